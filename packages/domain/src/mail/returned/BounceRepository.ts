import { Context, type Effect } from "effect"
import type { RecipientId } from "../../Identifier.ts"
import type { Recipient } from "../../recipients/Recipient.ts"
import type { LateRefusalCause } from "./lateRefusalCause.ts"

/** A locked recipient of a returned message. */
export interface BouncedRecipient {
  readonly recipient: Recipient
  /** Their message, if it was neither sent nor bounced; undefined without one. */
  readonly message: { readonly unknownOutcomes: number; readonly isLeased: boolean } | undefined
}

/** Stores bounces and complaints of sent messages. */
export class BounceRepository extends Context.Service<
  BounceRepository,
  {
    /** Locks a recipient, and their message if its outcome is unknown; undefined for an unknown recipient. */
    lock(recipientId: RecipientId): Effect.Effect<BouncedRecipient | undefined>
    /** Removes the waiting message of a recipient who bounces, and stores the reply, from `cleanSmtpReply`; null if the report quotes none. */
    storeBounce(bounced: BouncedRecipient, reply: string | null): Effect.Effect<void>
    /**
     * Stores that a message was rejected after acceptance, with the quoted reply. Returns false if already known. It isn't
     * counted any more after the recipient bounces.
     */
    storeLateRefusal(recipient: Recipient, cause: LateRefusalCause, reply: string | null): Effect.Effect<boolean>
    /** Stores a recipient's complaint. Returns false if already known. */
    storeComplaint(recipient: Recipient, feedbackType: string): Effect.Effect<boolean>
  }
>()("domain/mail/returned/BounceRepository") {}
