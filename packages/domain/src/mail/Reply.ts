import { Schema } from "effect"
import { Recipient } from "../recipients/Recipient.ts"
import { Timestamp } from "../Timestamp.ts"

/** What a person wrote to the return path of their message instead of to its sender. */
export const Reply = Schema.Struct({
  organizationId: Recipient.fields.organizationId,
  recipientId: Recipient.fields.id,
  campaignId: Recipient.fields.campaignId,
  /** Counts the replies of a recipient. */
  number: Schema.Int,
  subject: Schema.String,
  text: Schema.String,
  receivedAt: Timestamp,
  /** When an operator had done what it asks for. */
  doneAt: Schema.NullOr(Timestamp),
})
export type Reply = typeof Reply.Type

/** What is kept of a reply: letters, spaces, tabs and line ends. */
export type ReplyText = Pick<Reply, "subject" | "text">

/** How many replies are kept within 24 hours; what comes beyond is counted alone. */
export const MAX_REPLIES_PER_DAY = { recipient: 5, organization: 500 } as const
