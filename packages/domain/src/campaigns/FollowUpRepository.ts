import { Context, type Effect } from "effect"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import type { MessageLease } from "../mail/Message.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { CampaignKey } from "./Campaign.ts"
import type { FollowedRecipient, FollowUp, FollowUpState, SkipReason } from "./FollowUp.ts"

/** A recipient of the earlier campaign, and the recipient of the follow-up that it has become. */
export interface DrawnRecipient {
  readonly followedId: RecipientId
  readonly id: RecipientId
}

/** Keeps follow-ups, and how far each is drawn. */
export class FollowUpRepository extends Context.Service<
  FollowUpRepository,
  {
    create(campaign: CampaignKey, followUp: FollowUp): Effect.Effect<void>
    find(campaign: CampaignKey): Effect.Effect<FollowUpState | undefined>
    /** Returns when a campaign sent its last e-mail; null when it sent none. */
    lastSentAt(campaign: CampaignKey): Effect.Effect<Timestamp | null>
    /** Reads the recipients of the earlier campaign after those that were read before; the follow-up's campaign is locked. */
    readNext(campaign: CampaignKey, limit: number): Effect.Effect<ReadonlyArray<FollowedRecipient>>
    /** Copies the fields of recipients to those that they have become. */
    copyFields(organizationId: OrganizationId, drawn: ReadonlyArray<DrawnRecipient>): Effect.Effect<void>
    /** Counts the recipients who were skipped, and continues after `last`; with null, the follow-up is drawn. */
    advance(
      campaign: CampaignKey,
      last: RecipientId | null,
      skipped: Partial<Record<SkipReason, number>>,
    ): Effect.Effect<void>
    /** Finds the leases of follow-ups whose recipients have clicked on an earlier e-mail since they were drawn. */
    findClicked(leases: ReadonlyArray<MessageLease>): Effect.Effect<ReadonlySet<RecipientId>>
  }
>()("domain/campaigns/FollowUpRepository") {}
