import type { BounceReason } from "@outreach/contract"
import { Context, type Effect, Schema } from "effect"
import type { CampaignId } from "../Identifier.ts"
import type { SenderIdentity } from "../senders/Sender.ts"

/** A message as text alone. */
export interface PlainMail {
  /** The same object in all messages of a campaign that are sent within a minute, so that its keys are read once. */
  readonly sender: SenderIdentity
  readonly to: string
  readonly subject: string
  /** In a campaign's mail the same as its HTML, for programs that show none. */
  readonly text: string
  /** The same at every attempt, so that a repeated message can be recognised. */
  readonly messageId: string
  /** Where its bounces come back to: the sender of the envelope. */
  readonly returnPath: string
}

/** A message of a campaign. */
export interface Mail extends PlainMail {
  readonly html: string
  /** Names the campaign to mailbox providers that count complaints: at most four fields, nothing personal. */
  readonly feedbackId: string
  /** Takes the one click of RFC 8058. */
  readonly unsubscribeUrl: string
  /** Unsubscribes by any message to it; null where no worker receives mail. */
  readonly unsubscribeAddress: string | null
}

/** Why a mail server took no message, or gave no response, for a reason that is not the recipient's. */
export const MailFailure = Schema.Struct({
  /**
   * `login`, `relay_denied` and `rejected` are replies to us; `protocol` is a reply that nothing was waiting for; `tls` is mostly a
   * certificate, or TLS that is required and not offered; `slow` is a timeout that concerns one message alone; `stopped` is our own end;
   * `template` is a message that does not render; `sender` is a key of ours that cannot be read; the others are failures of the network.
   */
  class: Schema.Literals([
    ...(["sender", "login", "relay_denied", "rejected", "protocol", "tls", "dns"] as const),
    ...(["refused", "reset", "timeout", "slow", "stopped", "template", "unknown"] as const),
  ]),
  /** Reply codes and the command, the name of the system's error, or the field that a template lacks; never an address or a field's value. */
  code: Schema.String,
})
export type MailFailure = typeof MailFailure.Type

/** The outcome of an attempt to send a message; `reply` is the server's, from `cleanSmtpReply`. */
export type MailOutcome =
  | { readonly _tag: "Accepted"; readonly reply?: string }
  /** `lacking` names the extension that our mail server would need for this address. */
  | { readonly _tag: "Bounced"; readonly reason: BounceReason; readonly lacking?: "SMTPUTF8"; readonly reply?: string }
  /** `greylistedSeconds` is how long greylisting asks us to wait. */
  | { readonly _tag: "Deferred"; readonly greylistedSeconds?: number; readonly reply?: string }
  /** The recipient's domain refuses us. */
  | { readonly _tag: "Refused"; readonly status: string; readonly reply?: string }
  /** The message was not sent, and its recipient is not the reason. */
  | { readonly _tag: "Unreachable"; readonly failure: MailFailure }
  /** The whole message was sent, and the server never answered, or not as one answers: it may have been delivered. */
  | { readonly _tag: "Unknown"; readonly failure: MailFailure }
  /** No connection was free in time, or the lease was lost before the message was sent. */
  | { readonly _tag: "Late" }

/** The lease under which a message is sent, as the mailer needs it. */
export interface SendingLease {
  readonly campaignId: CampaignId
  /** When sending must have begun at the latest, in nanoseconds of the clock that nobody sets. */
  readonly beginBy: bigint
  begin(): void
  /** Returns whether the lease is still ours; called before the message itself is sent. */
  isHeld(): boolean
}

export class Mailer extends Context.Service<
  Mailer,
  {
    /**
     * Sends one message and has its outcome recorded; every rejection and every failure of the network is an outcome.
     *
     * The message is composed once it has a connection, so that those that wait take no memory. At most two messages of a connection are
     * sent and not recorded at any time, and one campaign never holds every connection.
     */
    send<A, E, R>(
      compose: Effect.Effect<Mail, E>,
      lease: SendingLease,
      record: (outcome: MailOutcome) => Effect.Effect<A, never, R>,
    ): Effect.Effect<A, E, R>
  }
>()("domain/mail/Mailer") {}
