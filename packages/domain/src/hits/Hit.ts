import type { Reason } from "@outreach/bot-suspicion"
import type { EventDraft } from "../events/Event.ts"
import type { CampaignId, HitId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

/** A request for the pixel or a link of a recipient's message, as it came. */
export interface Hit {
  readonly id: HitId
  readonly organizationId: OrganizationId
  readonly recipientId: RecipientId
  /** Where the link led; null for the pixel. */
  readonly link: string | null
  readonly method: string
  readonly address: string
  /** The header fields that say something of who asks, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** A hit that waits to be judged, with what is known of its recipient's message. */
export interface WaitingHit extends Hit {
  readonly campaignId: CampaignId
  readonly programId: ProgramId
  readonly token: string
  readonly receivedAt: Timestamp
  /** Unix milliseconds with their fraction, as the next two. */
  readonly at: number
  /** When the mail server accepted the message; null when it did not, or nobody knows. */
  readonly acceptedAt: number | null
  /** The latest links that the recipient's message was asked for in the two seconds before. */
  readonly earlierHits: ReadonlyArray<{ readonly at: number; readonly link: string }>
}

/** What became of a hit: why it is suspected, if it is, and the event that tells of it. */
export interface JudgedHit {
  readonly reasons: ReadonlyArray<Reason>
  readonly event: EventDraft
}
