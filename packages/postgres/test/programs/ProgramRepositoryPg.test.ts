import { describe, expect } from "@effect/vitest"
import { type CalendarDate, DigestRepository } from "@outreach/domain/digest/Digest"
import { createIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { createProgram, ProgramRepository, updateProgram } from "@outreach/domain/programs/Programs"
import { qualifyOn } from "@outreach/testing/outreachOn"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi } from "@outreach/testing/seedCampaign"
import { value, withTimestamp } from "@outreach/testing/sql"
import { Effect } from "effect"

const { test } = testsOnDatabase()

const organization = createOrganization("Acme")
const create = (organizationId: OrganizationId, slug: string) =>
  createProgram({ organizationId, slug, name: "Heart failure", learnerTarget: 100 })

describe("ProgramRepositoryPg", () => {
  test("assigns a slug to one program of an organization", function* () {
    const [ours, theirs] = [yield* organization, yield* organization]
    expect(yield* create(ours.id, "heart-failure")).toMatchObject({
      organizationId: ours.id,
      slug: "heart-failure",
      status: "active",
      learnerTarget: 100,
      completerTarget: null,
    })
    expect(yield* Effect.flip(create(ours.id, "heart-failure"))).toMatchObject({ _tag: "ProgramSlugTaken" })
    expect((yield* create(theirs.id, "heart-failure")).organizationId).toBe(theirs.id)
  })

  test("lists the programs of an organization, oldest first, or of all organizations", function* () {
    const repository = yield* ProgramRepository
    const [ours, theirs] = [yield* organization, yield* organization]
    const programs = [yield* create(ours.id, "b"), yield* create(ours.id, "a")]
    const other = yield* create(theirs.id, "a")
    expect(yield* repository.list(ours.id)).toEqual(programs)
    expect(yield* repository.list()).toEqual(expect.arrayContaining([...programs, other]))
  })

  test("re-evaluates if the target is reached after it changes", function* () {
    const { id: organizationId } = yield* organization
    const { id: programId } = yield* create(organizationId, "a")
    const clinicians = [1, 2].map((n) => ({ programId, stage: "completer_qualified" as const, npi: npi(n) }))
    yield* withTimestamp(organizationId, (at) => qualifyOn(organizationId, clinicians, at))
    const reached = Effect.gen(function* () {
      const over = yield* value<boolean>`select quota_reached(${organizationId}, ${programId})`
      const today = yield* value<CalendarDate>`select (clock_timestamp() at time zone 'UTC')::date::text`
      const [record] = yield* (yield* DigestRepository).read(organizationId, today)
      return {
        over,
        ...record!.quota.completer_qualified,
        reached_at: record!.quota.completer_qualified.reached_at !== null,
      }
    })
    expect(yield* reached).toMatchObject({ over: false, reached_at: false })
    yield* updateProgram(programId, { completerTarget: 2 })
    expect(yield* reached).toEqual({ over: true, count: 2, target: 2, remaining: 0, reached_at: true })
    yield* updateProgram(programId, { completerTarget: 3 })
    expect(yield* reached).toEqual({ over: false, count: 2, target: 3, remaining: 1, reached_at: false })
    yield* updateProgram(programId, { completerTarget: null })
    expect(yield* reached).toMatchObject({ over: false, target: null, reached_at: false })
  })

  test("rejects an organization that does not exist", function* () {
    const organizationId = yield* createIdentifier("organization")
    expect(yield* Effect.flip(create(organizationId, "a"))).toMatchObject({
      _tag: "OrganizationNotFound",
      organizationId,
    })
  })
})
