import type { Reason } from "@outreach/bot-suspicion"
import { Schema } from "effect"
import type { EventDraft } from "../events/Event.ts"
import { CampaignId, HitId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** How many hits of one recipient's link in a clock minute are kept one by one, and so forwarded: from one network, and in all. */
export const MAX_HITS_PER_MINUTE = { network: 20, link: 40 } as const
/** How long the counts of a clock minute are kept. */
export const HIT_COUNT_RETENTION_SECONDS = 3600
/** How long a hit waits until its message was accepted, at most: scanners look before the mail server has its response. */
export const MAX_JUDGMENT_DELAY_SECONDS = 60
/** How far back a message's earlier hits matter for the judgment of the next one. */
export const EARLIER_HITS_SECONDS = 2
export const MAX_EARLIER_HITS = 100

/** A request for the pixel or a link of a recipient's message, as it came. */
export const Hit = Schema.Struct({
  id: HitId,
  organizationId: OrganizationId,
  recipientId: RecipientId,
  /** Where the link led; null for the pixel. */
  link: Schema.NullOr(Schema.String),
  method: Schema.String,
  address: Schema.String,
  /** The header fields that say something of who asks, by their names in lower case. */
  headers: Schema.Record(Schema.String, Schema.String),
})
export type Hit = typeof Hit.Type

/** A hit that waits to be judged, with what is known of its recipient's message. */
export const WaitingHit = Schema.Struct({
  ...Hit.fields,
  campaignId: CampaignId,
  programId: ProgramId,
  token: Schema.String,
  receivedAt: Timestamp,
  /** Unix seconds with their fraction, as the next two. */
  at: Schema.Number,
  /** When the mail server accepted the message; null when it did not, or nobody knows. */
  acceptedAt: Schema.NullOr(Schema.Number),
  /** The latest clicks on links of the same message, at most `MAX_EARLIER_HITS` of the last `EARLIER_HITS_SECONDS`. */
  earlierHits: Schema.Array(Schema.Struct({ at: Schema.Number, link: Schema.String })),
})
export type WaitingHit = typeof WaitingHit.Type

/** A hit that was judged: why it is suspected, if it is, and its event. */
export interface JudgedHit {
  readonly id: HitId
  readonly reasons: ReadonlyArray<Reason>
  readonly event: EventDraft
}
