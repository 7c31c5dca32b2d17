import { describe, expect } from "@effect/vitest"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { ProgramId } from "@outreach/domain/Identifier"
import { createProgram } from "@outreach/domain/programs/Programs"
import { Timestamp } from "@outreach/domain/Timestamp"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { suppressions } from "../../src/operations/suppressions.ts"
import { SuppressionReader } from "../../src/suppressions/SuppressionReader.ts"

const { test } = testsOnDatabase()

/** Seeds an organization with suppressions of its program and of the organization; some have the same time. */
const seed = Effect.fnUntraced(function* (count: number) {
  const { organization, program } = yield* seedCampaign({ recipients: 0 })
  yield* sql`
    insert into suppressions (organization_id, program_id, kind, value, reason, created_at)
    select ${organization.id}, ${program.id}, case i % 2 when 0 then 'npi' else 'email' end, 'p' || i,
      case i % 3 when 0 then 'operator' else 'account_created' end, timestamptz '2026-11-01' + i / 4 * interval '1 hour'
    from generate_series(0, ${count - 1}::int) i`
  yield* sql`
    insert into suppressions (organization_id, program_id, kind, value, reason, created_at)
    select ${organization.id}, '', 'email', 'o' || i, 'bounced', timestamptz '2026-11-01' + i / 4 * interval '1 hour'
    from generate_series(0, ${count - 1}::int) i`
  return { organizationId: organization.id, programId: program.id as ProgramId }
})

describe("SuppressionReader", () => {
  test("pages through all entries once, newest first, even if several have the same time, or the last read one is lifted", function* () {
    const { organizationId } = yield* seed(21)
    const values: Array<string> = []
    const times: Array<string> = []
    let after: string | null = null
    do {
      const page: Effect.Success<ReturnType<typeof suppressions.read>> = yield* suppressions.read(
        { organizationId },
        { limit: 2, after },
      )
      if (after === null) yield* sql`delete from suppressions where value = ${page.rows[1]!.value}`
      values.push(...page.rows.map(({ value }) => value))
      times.push(...page.rows.map(({ createdAt }) => createdAt))
      after = page.next
    } while (after !== null)
    expect(new Set(values).size).toBe(42)
    expect(values).toHaveLength(42)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  test("filters by program, scope, kind, reason and time, and counts up to a limit, each organization separately", function* () {
    const { organizationId, programId } = yield* seed(12)
    yield* seed(12)
    const reader = yield* SuppressionReader
    const count = (filter: Parameters<typeof reader.list>[0]) =>
      Effect.map(reader.list(filter, { limit: 100, after: null }), (entries) => entries.length)
    expect(yield* count({ organizationId })).toBe(24)
    expect(yield* count({ programId })).toBe(24)
    expect(yield* count({ programId, scope: "program" })).toBe(12)
    expect(yield* count({ programId, scope: "organization" })).toBe(12)
    expect(yield* count({ organizationId, scope: "organization" })).toBe(12)
    expect(yield* count({ organizationId, kind: "npi" })).toBe(6)
    expect(yield* count({ organizationId, reason: "operator" })).toBe(4)
    expect(yield* count({ organizationId, reason: "bounced", kind: "npi" })).toBe(0)
    const from = Timestamp.make("2026-11-01T01:00:00Z")
    const to = Timestamp.make("2026-11-01T02:00:00Z")
    expect(yield* count({ organizationId, from, to })).toBe(8)
    const everywhere = yield* reader.list({}, { limit: 100, after: null })
    expect(new Set(everywhere.map((entry) => entry.organizationId)).size).toBeGreaterThan(1)
    const counts = () =>
      Effect.map(reader.count(organizationId), (rows) => rows.map(({ programId, count }) => [programId, count]))
    expect(yield* counts()).toEqual([
      [null, 12],
      [programId, 12],
    ])
    yield* sql`
      insert into suppressions (organization_id, program_id, kind, value, reason)
      select ${organizationId}, ${programId}, 'npi', 'many' || i, 'operator' from generate_series(1, ${COUNT_CAP + 5}::int) i`
    expect((yield* counts())[1]).toEqual([programId, COUNT_CAP])
    const second = yield* createProgram({ organizationId, slug: "second", name: "Second" })
    expect(yield* count({ programId: second.id })).toBe(12)
  })
})
