import { Context, type Effect } from "effect"
import type { OrganizationId, ReplayId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import type { Timestamp } from "../Timestamp.ts"
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
    /** Finds a replay that is under way and may concern an organization. */
    findReplay(organizationId: OrganizationId): Effect.Effect<ReplayId | undefined>
    /** Lets nothing new begin for an organization on this server; returns since when. */
    freeze(organizationId: OrganizationId): Effect.Effect<Timestamp, OrganizationNotFound>
    /** Lets everything begin again for an organization. */
    unfreeze(organizationId: OrganizationId): Effect.Effect<void, OrganizationNotFound>
    /** The transactions of others that are open in this database, by their virtual ids, which also those have that have written nothing. */
    readonly openTransactions: Effect.Effect<ReadonlyArray<string>>
  }
>()("domain/organizations/OrganizationRepository") {}
