import type { Reason } from "@outreach/bot-suspicion"
import { Schema } from "effect"
import type { EventDraft } from "../events/Event.ts"
import { CampaignId, HitId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** Maximum hits of a recipient's link per clock minute that are stored and forwarded individually: from one network, and in total. */
export const MAX_HITS_PER_MINUTE = { network: 20, link: 40 } as const
/** Maximum wait of a hit for its message's acceptance: scanners follow links before the mail server responds. */
export const MAX_JUDGMENT_DELAY_SECONDS = 60
/** Age of earlier hits that matter for classifying the next one. */
export const EARLIER_HITS_SECONDS = 2
export const MAX_EARLIER_HITS = 100

/** A request for the pixel or a link of a recipient's message, as received. */
export const Hit = Schema.Struct({
  id: HitId,
  organizationId: OrganizationId,
  recipientId: RecipientId,
  /** Target of the link; null for the pixel. */
  link: Schema.NullOr(Schema.String),
  method: Schema.String,
  address: Schema.String,
  /** Header fields that identify the client, by lowercase name. */
  headers: Schema.Record(Schema.String, Schema.String),
})
export type Hit = typeof Hit.Type

/** A hit waiting for classification, with data about its recipient's message. */
export const WaitingHit = Schema.Struct({
  ...Hit.fields,
  campaignId: CampaignId,
  programId: ProgramId,
  token: Schema.String,
  receivedAt: Timestamp,
  /** Unix seconds with fractions, like the next two. */
  at: Schema.Number,
  /** When the mail server accepted the message; null if it didn't, or if unknown. */
  acceptedAt: Schema.NullOr(Schema.Number),
  /** Latest clicks on links of the same message, at most `MAX_EARLIER_HITS` within `EARLIER_HITS_SECONDS`. */
  earlierHits: Schema.Array(Schema.Struct({ at: Schema.Number, link: Schema.String })),
})
export type WaitingHit = typeof WaitingHit.Type

/** A classified hit: the reasons of its suspicion, if any, and its event. */
export interface JudgedHit {
  readonly id: HitId
  readonly reasons: ReadonlyArray<Reason>
  readonly event: EventDraft
}
