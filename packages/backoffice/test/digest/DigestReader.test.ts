import { expect } from "@effect/vitest"
import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { addDays } from "@outreach/domain/digest/DateRange"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { createIdentifier } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { backoffice } from "../../src/backoffice.ts"
import { DigestReader } from "../../src/digest/DigestReader.ts"

const test = effectTest(runOnDatabase({ layer: backoffice }))
const date = (text: string) => text as CalendarDate
const stamp = (day: CalendarDate) => `${day}T10:00:00.000000Z` as CommitTimestamp

const today = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ today: CalendarDate }>`
    select to_char(statement_timestamp() at time zone 'UTC', 'YYYY-MM-DD') as today`
  return row!.today
})

test("each date of a range reads as the digest of that date does", function* () {
  const { organization, campaign, program } = yield* seedCampaign({ recipients: 0 })
  const [ann, bob] = [yield* createIdentifier("recipient"), yield* createIdentifier("recipient")]
  yield* outreachOn(stamp(date("2026-02-03")), campaign, [
    [ann, "sent"],
    [bob, "bounced"],
    [ann, "human opened"],
  ])
  yield* outreachOn(stamp(date("2026-02-05")), campaign, [[ann, "bot clicked"]])
  const clinician = (n: number) => ({ programId: program.id, stage: "account_created" as const, npi: npi(n) })
  yield* inTransaction(qualifyOn(organization.id, [clinician(1), clinician(2)], stamp(date("2026-02-03"))))
  yield* inTransaction(qualifyOn(organization.id, [clinician(3)], stamp(date("2026-02-05"))))

  const reader = yield* DigestReader
  const days = yield* reader.days(organization.id, program.id, date("2026-02-02"), date("2026-02-06"))
  expect(days.map((day) => day.date)).toEqual([2, 3, 4, 5, 6].map((day) => `2026-02-0${day}`))
  expect(days.map(({ funnel }) => funnel.cumulative.account_created)).toEqual([0, 2, 2, 3, 3])
  for (const day of days) {
    const [record] = yield* (yield* DigestRepository).read(organization.id, day.date)
    expect({ funnel: day.funnel, outreach: day.outreach }).toEqual({
      funnel: record!.funnel,
      outreach: record!.outreach,
    })
  }
})

test("the progress of a program has its totals, and the gains of the last complete days from its first one on", function* () {
  const { organization, program } = yield* seedCampaign({ recipients: 0 })
  const sql = yield* SqlClient.SqlClient
  yield* sql`update programs set learner_target = 10 where id = ${program.id}`
  const now = yield* today
  const learners = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      programId: program.id,
      stage: "learner_qualified" as const,
      npi: npi(from + n),
    }))
  yield* inTransaction(qualifyOn(organization.id, learners(0, 2), stamp(addDays(now, -4))))
  yield* inTransaction(qualifyOn(organization.id, learners(2, 1), stamp(addDays(now, -2))))
  yield* inTransaction(qualifyOn(organization.id, learners(3, 5), `${now}T00:00:00.000001Z` as CommitTimestamp))
  const reader = yield* DigestReader
  expect(yield* reader.progress(organization.id, program.id)).toEqual({
    learner_qualified: { target: 10, count: 8, gains: [2, 0, 1, 0], today: now, reachedAt: null },
    completer_qualified: { target: null, count: 0, gains: [0, 0, 0, 0], today: now, reachedAt: null },
    campaignsEnd: null,
  })
  yield* sql`update campaigns set status = 'sending' where organization_id = ${organization.id}`
  const [window] = yield* sql<{ end: string }>`
    select to_char(window_end at time zone 'UTC', 'YYYY-MM-DD') as end from campaigns where organization_id = ${organization.id}`
  expect((yield* reader.progress(organization.id, program.id))?.campaignsEnd).toBe(window!.end)
  const other = yield* createIdentifier("program")
  expect(yield* reader.progress(organization.id, other)).toBeUndefined()
})
