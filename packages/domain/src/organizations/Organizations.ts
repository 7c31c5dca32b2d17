import { Effect } from "effect"
import { createIdentifier, type OrganizationId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import { MAX_CONTACTS, TooManyContacts } from "./Organization.ts"
import { OrganizationRepository } from "./OrganizationRepository.ts"

export const createOrganization = Effect.fn("Organizations.createOrganization")(function* (name: string) {
  return yield* (yield* OrganizationRepository).create(yield* createIdentifier("organization"), name)
})

/** Replaces an organization's contacts. */
export const setContacts = Effect.fn("Organizations.setContacts")(function* (
  organizationId: OrganizationId,
  contacts: ReadonlyArray<EmailAddress>,
) {
  const distinct = [...new Set(contacts)]
  if (distinct.length > MAX_CONTACTS) return yield* new TooManyContacts({ most: MAX_CONTACTS })
  return yield* (yield* OrganizationRepository).setContacts(organizationId, distinct)
})
