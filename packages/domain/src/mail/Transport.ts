import type { BounceReason } from "@outreach/contract"
import { Context, type Effect, Schema } from "effect"
import type { SenderIdentity } from "../senders/Sender.ts"

/** A text-only message. */
export interface PlainMail {
  /** The same object for all messages of a campaign within a minute, so that its keys are parsed once. */
  readonly sender: SenderIdentity
  readonly to: string
  readonly subject: string
  /** For a campaign, the content of its HTML for programs that don't show HTML. */
  readonly text: string
  /** The same for every attempt, so that duplicates can be detected. */
  readonly messageId: string
  /** Envelope sender, which receives the bounces. */
  readonly returnPath: string
}

/** A message of a campaign. */
export interface Mail extends PlainMail {
  readonly html: string
  /** Identifies the campaign for mailbox providers' complaint counts: at most four fields, without personal data. */
  readonly feedbackId: string
  /** Target of the RFC 8058 one-click request. */
  readonly unsubscribeUrl: string
  /** Unsubscribes by any message to it; null if workers don't receive mail. */
  readonly unsubscribeAddress: string | null
}

/** Reason why a mail server didn't accept a message, or didn't respond, if not caused by the recipient. */
export const MailFailure = Schema.Struct({
  /**
   * `login`, `relay_denied` and `rejected` are rejections of us; `protocol` is an unexpected reply; `tls` is usually a
   * certificate, or required TLS that isn't offered; `slow` is a timeout of a single message; `stopped` is our shutdown;
   * `template` is a message that doesn't render; `sender` is an unreadable key of ours; the others are network failures.
   */
  class: Schema.Literals([
    ...(["sender", "login", "relay_denied", "rejected", "protocol", "tls", "dns"] as const),
    ...(["refused", "reset", "timeout", "slow", "stopped", "template", "unknown"] as const),
  ]),
  /** Reply codes and command, the system's error name, or a missing template field; never an address or a field's value. */
  code: Schema.String,
})
export type MailFailure = typeof MailFailure.Type

/** Result of an attempt to send a message; `reply` is the server's, from `cleanSmtpReply`. */
export type MailOutcome =
  | { readonly _tag: "Accepted"; readonly reply?: string }
  /** `lacking` is the extension that our mail server would need for this address. */
  | { readonly _tag: "Bounced"; readonly reason: BounceReason; readonly lacking?: "SMTPUTF8"; readonly reply?: string }
  /** `greylistedSeconds` is the wait required by greylisting. */
  | { readonly _tag: "Deferred"; readonly greylistedSeconds?: number; readonly reply?: string }
  /** The recipient's domain rejects us. */
  | { readonly _tag: "Refused"; readonly status: string; readonly reply?: string }
  /** The message wasn't sent, for a reason other than the recipient. */
  | { readonly _tag: "Unreachable"; readonly failure: MailFailure }
  /** The whole message was sent, and the server didn't respond, or not correctly: it may have been delivered. */
  | { readonly _tag: "Unknown"; readonly failure: MailFailure }
  /** No turn was free in time, or the lease was lost before the message was sent. */
  | { readonly _tag: "Late" }

/** A permanent verdict of a report; its `reply` is quoted from the report, unmodified. */
export type ReportedOutcome = Extract<MailOutcome, { _tag: "Bounced" | "Deferred" | "Refused" }>

/** Sender and recipient as the mail server sees them. */
export interface Envelope {
  readonly from: string
  readonly to: string
}

/** A message as it is transmitted: MIME, signed. */
export interface ComposedMail {
  readonly envelope: Envelope
  readonly message: Uint8Array
}

/** Delivers messages, over SMTP or through another service that sends e-mail. */
export class Transport extends Context.Service<
  Transport,
  {
    /**
     * Delivers one message. Rejections and network failures are outcomes.
     *
     * `mayComplete` is called immediately before the message could be accepted; false ends the attempt as `Late`. An interruption before
     * that call ends the attempt without delivering the message.
     */
    deliver(mail: ComposedMail, mayComplete: () => boolean): Effect.Effect<MailOutcome>
  }
>()("domain/mail/Transport") {}
