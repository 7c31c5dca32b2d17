import { Context, type Effect } from "effect"
import type { EventDraft } from "../events/Event.ts"
import type { RecipientId } from "../Identifier.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { SuppressionReason } from "../suppressions/Suppression.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { LateRefusalCause } from "./lateRefusalCause.ts"

/** A recipient whose message came back, as they stand while they are locked. */
export interface BouncedRecipient {
  readonly recipient: Recipient
  /** Their message, if it was neither sent nor bounced; undefined when there is none. */
  readonly message: { readonly unknownOutcomes: number; readonly isLeased: boolean } | undefined
}

/** Keeps what comes back of messages that were sent. */
export class BounceRepository extends Context.Service<
  BounceRepository,
  {
    /** Locks a recipient, and their message if nobody knows whether it was sent; undefined when there is no such recipient. */
    lock(recipientId: RecipientId): Effect.Effect<BouncedRecipient | undefined>
    /** Marks a recipient as bounced, removes a message that waits for another attempt, and publishes the event; a hard bounce suppresses the address. */
    storeBounce(
      bounced: BouncedRecipient,
      event: EventDraft,
      options: {
        readonly at: CommitTimestamp
        readonly isHardBounce: boolean
        /** What the report quotes, from `cleanSmtpReply`; null when it quotes nothing. */
        readonly reply: string | null
      },
    ): Effect.Effect<void>
    /**
     * Stores that a message was refused after a server had accepted it, with what the report quotes; returns false if that is known. It is no
     * longer counted once the recipient bounces.
     */
    storeLateRefusal(recipient: Recipient, cause: LateRefusalCause, reply: string | null): Effect.Effect<boolean>
    /** Stores that a recipient complained about their message; returns false if that is known. */
    storeComplaint(recipient: Recipient, feedbackType: string): Effect.Effect<boolean>
    /** Suppresses a recipient's address in every program of the organization, after its clock was advanced; `withdrawSuppressed` withdraws the recipients who wait. */
    suppress(recipient: Recipient, reason: SuppressionReason): Effect.Effect<void>
    /** Lets the recipient's campaign leave the domain of the address alone for a while. */
    pauseDomain(recipient: Recipient, status: string, seconds: number): Effect.Effect<void>
  }
>()("domain/mail/BounceRepository") {}
