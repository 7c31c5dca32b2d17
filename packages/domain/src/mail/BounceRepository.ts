import { Context, type Effect } from "effect"
import type { EventDraft } from "../events/Event.ts"
import type { RecipientId } from "../Identifier.ts"
import type { Recipient } from "../recipients/Recipient.ts"

/** What became of a late bounce: it is recorded; it was before; the message is still being sent, so that it is too early; or there is no such message. */
export type BounceRecording = "recorded" | "repeated" | "early" | "unknown"

/** Keeps what comes back of messages that were sent. */
export class BounceRepository extends Context.Service<
  BounceRepository,
  {
    /** Marks the recipient of a sent message as bounced and publishes the event, in one transaction. */
    record(recipientId: RecipientId, compose: (recipient: Recipient) => EventDraft): Effect.Effect<BounceRecording>
    /** Lets the recipient's campaign leave the domain of the address alone for a while. */
    pauseDomain(recipientId: RecipientId, status: string, seconds: number): Effect.Effect<void>
  }
>()("domain/mail/BounceRepository") {}
