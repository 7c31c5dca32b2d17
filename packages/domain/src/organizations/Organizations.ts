import { Effect } from "effect"
import { createIdentifier, type OrganizationId } from "../Identifier.ts"
import { ReplayUnderWay } from "./Organization.ts"
import { OrganizationRepository } from "./OrganizationRepository.ts"

export const createOrganization = Effect.fn("Organizations.createOrganization")(function* (name: string) {
  return yield* (yield* OrganizationRepository).create(yield* createIdentifier("organization"), name)
})

/**
 * Freezes an organization before it moves to another server; to freeze it again changes nothing. Returns since when it is frozen, and the
 * transactions that may not have seen it: those that are open once the freeze is committed, as `create index concurrently` waits for them.
 */
export const freezeOrganization = Effect.fn("Organizations.freezeOrganization")(function* (
  organizationId: OrganizationId,
) {
  const organizations = yield* OrganizationRepository
  const replayId = yield* organizations.findReplay(organizationId)
  if (replayId !== undefined) return yield* new ReplayUnderWay({ replayId })
  const frozenAt = yield* organizations.freeze(organizationId)
  return { frozenAt, older: yield* organizations.openTransactions }
})
