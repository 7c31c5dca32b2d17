import { describe, expect } from "@effect/vitest"
import { EmailAddress } from "@outreach/domain/recipients/Clinician"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { createSuppression, removeSuppression } from "../../src/operations/suppressions.ts"

const { test } = testsOnDatabase()

const seed = Effect.fnUntraced(function* () {
  const { organization, program } = yield* seedCampaign({ recipients: 1 })
  const [row] = yield* sql<{ id: never }>`select id from recipients where organization_id = ${organization.id}`
  return { organizationId: organization.id, programId: program.id, id: row!.id }
})

const create = (given: Parameters<typeof createSuppression.run>[0]) => createSuppression.run(given, "dana")
const remove = (given: Omit<Parameters<typeof removeSuppression.run>[0], "reason">) =>
  removeSuppression.run({ ...given, reason: "asked by phone" }, "dana")

describe("a suppression", () => {
  test("is created once in a program or in an organization, and lifted there", function* () {
    const { organizationId, programId } = yield* seed()
    const clinician = { npi: npi(0), email: EmailAddress.make("late@clinic.test") }
    expect(yield* create({ programId, ...clinician })).toEqual({ programId, added: 2, withdrawn: 1 })
    expect(yield* create({ programId, organizationId, ...clinician })).toEqual({ programId, added: 0, withdrawn: 0 })
    expect(yield* create({ organizationId, npi: npi(4) })).toEqual({ organizationId, added: 1, withdrawn: 0 })
    expect(yield* remove({ organizationId, ...clinician })).toEqual({ organizationId, removed: 0, isErased: false })
    expect(yield* remove({ programId, npi: npi(4) })).toEqual({ programId, removed: 1, isErased: false })
    const plan = { programId, ...clinician, reason: "asked by phone" }
    expect(yield* removeSuppression.plan!(plan)).toMatchObject({ count: 2, caution: { because: expect.any(String) } })
    expect(yield* remove({ programId, ...clinician })).toEqual({ programId, removed: 2, isErased: false })
    expect(yield* removeSuppression.plan!(plan)).toMatchObject({ count: 0, caution: undefined })
  })

  test("by a recipient's id concerns the NPI and all addresses in the organization", function* () {
    const { organizationId, programId, id } = yield* seed()
    expect(yield* create({ id })).toEqual({ organizationId, added: 2, withdrawn: 1 })
    expect(yield* create({ id, programId })).toEqual({ programId, added: 2, withdrawn: 0 })
    expect(yield* remove({ id, programId })).toMatchObject({ removed: 4 })
  })

  test("requires one scope and one clinician", function* () {
    const { organizationId, programId, id } = yield* seed()
    const other = yield* seed()
    const failures = [
      [{ npi: npi(0) }, "UnclearScope"],
      [{ npi: npi(0), programId, organizationId: other.organizationId }, "ForeignProgram"],
      [{ id, programId: other.programId }, "ForeignProgram"],
      [{ id, organizationId: other.organizationId }, "RecipientNotFound"],
      [{ programId }, "InvalidClinician"],
      [{ organizationId, npi: npi(0), id }, "InvalidClinician"],
    ] as const
    for (const [given, _tag] of failures) expect(yield* Effect.flip(create(given))).toMatchObject({ _tag })
  })
})
