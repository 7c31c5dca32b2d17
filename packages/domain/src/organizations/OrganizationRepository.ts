import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import type { Organization, OrganizationNotFound } from "./Organization.ts"

export class OrganizationRepository extends Context.Service<
  OrganizationRepository,
  {
    /** Adds an organization with its clock. */
    create(id: OrganizationId, name: string): Effect.Effect<Organization>
    /** Replaces the contacts of an organization, each once. Notices that the earlier ones had still to receive go to those that are given. */
    setContacts(
      organizationId: OrganizationId,
      contacts: ReadonlyArray<EmailAddress>,
    ): Effect.Effect<Organization, OrganizationNotFound>
  }
>()("domain/organizations/OrganizationRepository") {}
