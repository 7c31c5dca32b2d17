import type { BounceReason } from "@outreach/contract"
import { Context, type Effect } from "effect"

/** A message ready to go. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly html: string
  /** The same as text, for whoever shows no HTML. */
  readonly text: string
  /** The same at every attempt, so that a repeated message can be told. */
  readonly messageId: string
  /** Where its bounces come back to: the sender of the envelope. */
  readonly returnPath: string
  /** Takes the one click of RFC 8058. */
  readonly unsubscribeUrl: string
}

/** What the mail server said: it took the message; the mailbox never will; not now; the refusal is about us; or it said nothing, or was not asked in time. */
export type MailOutcome =
  | { readonly _tag: "Accepted" }
  | { readonly _tag: "Bounced"; readonly reason: BounceReason }
  | { readonly _tag: "Deferred" }
  | { readonly _tag: "Refused"; readonly status: string }
  | { readonly _tag: "Unreachable"; readonly status?: string }
  | { readonly _tag: "Late" }

/** Hands messages to a mail server. */
export class Mailer extends Context.Service<
  Mailer,
  {
    /**
     * Sends one message; every refusal and every failure of the network is an outcome.
     *
     * Begins no later than `beginBy`, in nanoseconds of the clock that nobody sets, however long the message waits for a connection.
     */
    send(mail: Mail, beginBy: bigint): Effect.Effect<MailOutcome>
  }
>()("domain/outreach/Mailer") {}
