import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import type { Organization, OrganizationNotFound } from "./Organization.ts"

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
  }
>()("domain/organizations/OrganizationRepository") {}
