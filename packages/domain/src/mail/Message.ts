import { Schema, Struct } from "effect"
import type { RecipientId, SenderId } from "../Identifier.ts"
import { Program } from "../programs/Program.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { RecipientFields } from "../recipients/RecipientFields.ts"

/** One e-mail to one recipient, held by one worker until the lease ends. */
export interface MessageLease
  extends Pick<Recipient, "organizationId" | "campaignId" | "programId" | "token" | "email"> {
  readonly recipientId: RecipientId
  /** Proves that the lease is still this worker's. */
  readonly leaseToken: string
  /** Absent when the campaign's templates name none. */
  readonly fields?: RecipientFields
  /** Which attempt at the mailbox this is, from 1. */
  readonly attempt: number
  /** How often the whole message was sent and never answered. */
  readonly unknownOutcomes: number
  /** The sender whose ramp counts it, and the day of UTC on which it does. */
  readonly ramp?: { readonly senderId: SenderId; readonly day: string } | null
}

export const MessageTemplate = Schema.Struct({
  subject: Schema.String,
  html: Schema.String,
  /** The text part; null to make it of the HTML. */
  text: Schema.NullOr(Schema.String),
  /** The partner's own link to a recipient's token, which `{token}` stands for; templates name it `short_link`. */
  shortLink: Schema.NullOr(Schema.String),
  /** What the templates may name of each recipient; imports have a column for each. */
  fields: Schema.Array(Schema.String),
  campaignName: Schema.String,
  ...Struct.pick(Program.fields, ["senderName", "postalAddress"]),
  programName: Schema.String,
})
export type MessageTemplate = typeof MessageTemplate.Type

/** The same of a campaign that is sending. */
export const SendingTemplate = Schema.Struct({
  ...MessageTemplate.fields,
})
export type SendingTemplate = typeof SendingTemplate.Type
