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
export const MessageTemplate = Schema.Struct({
  subject: Schema.String,
  html: Schema.String,
  /** As in `Campaign`. */
  text: Schema.NullOr(Schema.String),
  campaignName: Schema.String,
  programName: Schema.String,
  /** As in `Program`. */
  senderName: Schema.NullOr(Schema.String),
  postalAddress: Schema.NullOr(Schema.String),
  /** As in `Campaign`. */
  shortLink: Schema.NullOr(Schema.String),
  fields: Schema.Array(Schema.String),
})
export type MessageTemplate = typeof MessageTemplate.Type

/** The same of a campaign that is sending. */
export const SendingTemplate = Schema.Struct({
  ...MessageTemplate.fields,
  /** Whether the campaign follows another one and leaves out recipients who have clicked there. */
  asksForClicks: Schema.Boolean,
})
export type SendingTemplate = typeof SendingTemplate.Type
