import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { createIdentifier } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import { blocksRead } from "./blocksRead.ts"
import { keepStatistics } from "./keepStatistics.ts"

const test = effectTest(runOnDatabase({ maxConnections: 1 }))
const PROGRAMS = 20

/** An organization of a number of programs, with something to count on each of a number of dates up to 2025-12-31. */
const history = Effect.fnUntraced(function* (dates: number) {
  const { organization } = yield* seedCampaign({ recipients: 0 })
  const repository = yield* ProgramRepository
  for (let n = 1; n < PROGRAMS; n++) {
    const id = yield* createIdentifier("program")
    yield* repository.create({
      organizationId: organization.id,
      id,
      slug: `program-${n}`,
      name: "Program",
      learnerTarget: null,
      completerTarget: null,
    })
  }
  const sql = yield* SqlClient.SqlClient
  const everyDate = sql`
    select organization_id, id, date '2025-12-31' - n from programs, generate_series(0, ${dates - 1}::int) as n
    where organization_id = ${organization.id}`
  yield* sql`insert into digest_outreach (organization_id, program_id, date) ${everyDate}`
  yield* sql`
    insert into digest_funnel
    select organization_id, program_id, date, 1, 1, 1, 1, 1, 1 from digest_outreach where organization_id = ${organization.id}`
  return organization.id
})

test("a digest reads as much beside a thousand dates as beside one, and no event at all", function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["digest_outreach", "digest_funnel", "events"]) yield* keepStatistics(table)
  const [young, old] = [yield* history(1), yield* history(1000)]
  yield* sql`vacuum analyze`
  const digests = yield* DigestRepository
  const costOf = (table: string, organizationId: typeof young, date: string) =>
    Effect.gen(function* () {
      let most = 0
      // The database settles on a plan after the first five.
      for (let n = 0; n < 12; n++) {
        const [blocks, records] = yield* blocksRead(table, digests.read(organizationId, date as CalendarDate))
        expect(records).toHaveLength(PROGRAMS)
        most = Math.max(most, blocks)
      }
      return most
    })
  for (const date of ["2025-12-31", "2024-06-01", "2026-01-20"]) {
    for (const table of ["digest_outreach", "digest_funnel"]) {
      // One look-up for each program: three levels of an index, a row, and what planning reads.
      expect(yield* costOf(table, young, date)).toBeLessThanOrEqual(PROGRAMS * 5)
      expect(yield* costOf(table, old, date)).toBeLessThanOrEqual(PROGRAMS * 5)
    }
  }
  expect(yield* costOf("events", old, "2025-12-31")).toBe(0)
})
