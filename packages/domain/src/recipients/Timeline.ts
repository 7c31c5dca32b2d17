import type { CampaignId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Recipient } from "./Recipient.ts"

/** The kinds of thing that can happen to a clinician here; `received` is an event that a partner sent. */
export const TIMELINE_KINDS = [
  "imported",
  "published",
  "sent",
  "bounced",
  "opened",
  "clicked",
  "unsubscribed",
  "received",
  "suppressed",
  "withdrawn",
] as const
export type TimelineKind = (typeof TIMELINE_KINDS)[number]

/** One thing that happened to a clinician. */
export interface TimelineEntry {
  readonly at: Timestamp
  readonly kind: TimelineKind
  readonly organizationId: OrganizationId
  readonly programId: ProgramId | null
  readonly campaignId: CampaignId | null
  readonly recipientId: RecipientId | null
  /** The event that tells of it, ours or the partner's. */
  readonly eventId: string | null
  /** A bounce's or withdrawal's reason, a suppression's kind and reason, a received event's type and state, or `bot suspected`. */
  readonly detail: string | null
}

/** Everything that is kept of a clinician: the recipient records of their NPI, and what happened, oldest first. */
export interface Timeline {
  readonly recipients: ReadonlyArray<Recipient>
  readonly entries: ReadonlyArray<TimelineEntry>
}
