import { Schema } from "effect"
import type { CampaignId, OrganizationId, ProgramId, RecipientId, SenderId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import type { RecipientFields } from "../recipients/RecipientFields.ts"

/** One of the two subjects that a campaign compares. */
export const TestSubject = Schema.Literals(["a", "b"])
export type TestSubject = typeof TestSubject.Type

/** One e-mail to one recipient, held by one worker until the lease ends. */
export interface MessageLease {
  readonly organizationId: OrganizationId
  readonly campaignId: CampaignId
  readonly programId: ProgramId
  readonly recipientId: RecipientId
  /** Proves that the lease is still this worker's. */
  readonly leaseToken: string
  readonly token: string
  readonly email: EmailAddress
  /** The subject that the recipient tests; null for the campaign's own, or the winner. */
  readonly testSubject: TestSubject | null
  /** Absent when the campaign's templates name none. */
  readonly fields?: RecipientFields
  /** Which attempt at the mailbox this is, from 1. */
  readonly attempt: number
  /** How often the whole message was sent and never answered. */
  readonly unknownOutcomes: number
  /** The sender whose ramp counts it, and the day of UTC on which it does. */
  readonly ramp?: { readonly senderId: SenderId; readonly day: string } | null
}

/** What a campaign's messages have in common. */
export interface MessageTemplate {
  readonly subject: string
  readonly html: string
  /** As in `Campaign`. */
  readonly text: string | null
  readonly campaignName: string
  readonly programName: string
  /** As in `Program`. */
  readonly senderName: string | null
  readonly postalAddress: string | null
  /** As in `Campaign`. */
  readonly shortLink: string | null
  readonly fields: ReadonlyArray<string>
}

/** The same of a campaign that is sending. */
export interface SendingTemplate extends MessageTemplate {
  /** Whether the campaign follows another one and leaves out recipients who have clicked there. */
  readonly asksForClicks: boolean
}
