import { Context, type Effect } from "effect"
import type { CampaignNotFound, CampaignNotInStatus, QuotaReached } from "../campaigns/CampaignErrors.ts"
import type { CampaignId, OrganizationId, RecipientId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Recipient } from "./Recipient.ts"

/** A recipient about to be kept. */
export interface Candidate {
  readonly id: RecipientId
  readonly token: string
  readonly npi: string
  readonly email: string
}

/**
 * What became of a candidate: `token_taken` asks for another token; `already_there` is the very same NPI and e-mail; `suppressed` is a
 * clinician whom the program must not write to, because of a suppression or because they have qualified.
 */
export type Registration = "registered" | "already_there" | "suppressed" | "npi_taken" | "email_taken" | "token_taken"

/** A place in the list of recipients: the last row that was read. */
export interface RecipientPosition {
  readonly updatedAt: Timestamp
  readonly id: RecipientId
}

/** Keeps recipients. */
export class RecipientRepository extends Context.Service<
  RecipientRepository,
  {
    /** Adds candidates to a campaign in one transaction, and says of each, in order, what became of it. */
    register(
      campaignId: CampaignId,
      candidates: ReadonlyArray<Candidate>,
    ): Effect.Effect<ReadonlyArray<Registration>, CampaignNotFound | CampaignNotInStatus | QuotaReached>
    /** Finds an organization's recipient by its token. */
    find(organizationId: OrganizationId, token: string): Effect.Effect<Recipient | undefined>
    /** Finds an organization's recipients by their ids, in one query. */
    findAll(
      organizationId: OrganizationId,
      ids: ReadonlyArray<RecipientId>,
    ): Effect.Effect<ReadonlyMap<RecipientId, Recipient>>
    /** Reads at most `limit` recipients in the order (`updatedAt`, id): from `since` on, inclusive, or after a position. */
    page(
      organizationId: OrganizationId,
      from: { readonly since: Timestamp } | { readonly after: RecipientPosition },
      limit: number,
    ): Effect.Effect<ReadonlyArray<Recipient>>
    /** Reads at most `limit` recipients of a campaign in the same order: from the first on, or after a position. */
    pageOfCampaign(
      organizationId: OrganizationId,
      campaignId: CampaignId,
      after: RecipientPosition | undefined,
      limit: number,
    ): Effect.Effect<ReadonlyArray<Recipient>>
  }
>()("domain/recipients/RecipientRepository") {}
