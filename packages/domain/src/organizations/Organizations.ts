import { Context, Effect } from "effect"
import { createIdentifier, type OrganizationId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/Clinician.ts"
import { MAX_CONTACTS, type Organization, type OrganizationNotFound, TooManyContacts } from "./Organization.ts"

export class OrganizationRepository extends Context.Service<
  OrganizationRepository,
  {
    /** Adds an organization with its clock. */
    create(id: OrganizationId, name: string): Effect.Effect<Organization>
    /** Replaces an organization's contacts. Pending notices go to the new contacts. */
    setContacts(
      organizationId: OrganizationId,
      contacts: ReadonlyArray<EmailAddress>,
    ): Effect.Effect<Organization, OrganizationNotFound>
    /** Changes the given limits of a partner's self-service. */
    setLimits(
      organizationId: OrganizationId,
      limits: { readonly selfService?: boolean | undefined; readonly maxEndpoints?: number | undefined },
    ): Effect.Effect<Organization, OrganizationNotFound>
  }
>()("domain/organizations/OrganizationRepository") {}

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
