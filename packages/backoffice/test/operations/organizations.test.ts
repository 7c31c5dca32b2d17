import { expect } from "@effect/vitest"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { limitOrganization, organizations } from "../../src/operations/organizations.ts"

const { test } = testsOnDatabase()

test("self-service and the number of endpoints are changed separately, and listed", function* () {
  const { id: organizationId } = yield* createOrganization("Acme")
  const limits = Effect.map(organizations.read({ organizationId }, { limit: 1, after: null }), ({ rows: [row] }) => [
    row!.selfService,
    row!.maxEndpoints,
  ])
  expect(yield* limits).toEqual([true, 20])
  const result = yield* limitOrganization.run({ organizationId, maxEndpoints: 3 }, "Dana")
  expect(limitOrganization.done(result, { organizationId })).toContain("Self-service is on, with at most 3 endpoints.")
  expect(yield* limits).toEqual([true, 3])
  yield* limitOrganization.run({ organizationId, selfService: false }, "Dana")
  expect(yield* limits).toEqual([false, 3])
  const unknown = limitOrganization.run({ organizationId: "org_unknown" as never, maxEndpoints: 1 }, "Dana")
  expect(yield* Effect.flip(unknown)).toMatchObject({ _tag: "OrganizationNotFound" })
})
