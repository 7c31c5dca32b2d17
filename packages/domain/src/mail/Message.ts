import { Schema, Struct } from "effect"
import type { RecipientId, SenderId } from "../Identifier.ts"
import { Program } from "../programs/Program.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { RecipientFields } from "../recipients/RecipientFields.ts"
import { textSchema } from "../textSchema.ts"

/** One e-mail to one recipient, held by one worker until the lease expires. */
export interface MessageLease
  extends Pick<Recipient, "organizationId" | "campaignId" | "programId" | "token" | "email"> {
  readonly recipientId: RecipientId
  /** Proves that the lease is still this worker's. */
  readonly leaseToken: string
  /** Absent if the campaign's templates use none. */
  readonly fields?: RecipientFields
  /** Attempt number for the mailbox, starting at 1. */
  readonly attempt: number
  /** Number of times the whole message was sent without a response. */
  readonly unknownOutcomes: number
  /** The sender with a ramp, and the UTC day on which it counts. */
  readonly ramp?: { readonly senderId: SenderId; readonly day: string } | null
}

/** Common data of a campaign's messages. */
export const MessageTemplate = Schema.Struct({
  subject: Schema.String,
  /** Template of the text that mailbox lists show after the subject, hidden in the HTML; null for none. */
  preheader: Schema.NullOr(Schema.String),
  html: Schema.String,
  /** Text part; null to create it from the HTML. */
  text: Schema.NullOr(Schema.String),
  /** The partner's own link with `{token}`; templates use it as `short_link`. */
  shortLink: Schema.NullOr(Schema.String),
  /** Recipient fields that templates may use; imports have a column for each. */
  fields: Schema.Array(Schema.String),
  campaignName: Schema.String,
  ...Struct.pick(Program.fields, ["senderName", "postalAddress"]),
  programName: Schema.String,
})
export type MessageTemplate = typeof MessageTemplate.Type

/** Maximum bytes of a part of a campaign's body. */
export const MAX_TEMPLATE_BYTES = 1_048_576

const encoder = new TextEncoder()

/** HTML or text of a campaign's body, before it is parsed as a template. Lines end with line feeds. */
export const TemplateText = textSchema("a text of at most 1 MiB", (text) => {
  if (text.trim() === "") throw new RangeError("it is blank")
  if (text.includes("\0")) throw new RangeError("it is not text in UTF-8")
  if (encoder.encode(text).length > MAX_TEMPLATE_BYTES) throw new RangeError("it exceeds 1 MiB")
  return text.replaceAll("\r\n", "\n")
})
