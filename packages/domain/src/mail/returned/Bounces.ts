import { Context, Effect } from "effect"
import { composeBounced, EventPublisher } from "../../events/Event.ts"
import type { RecipientId } from "../../Identifier.ts"
import type { Recipient } from "../../recipients/Recipient.ts"
import { isHardBounce, type SuppressionReason } from "../../suppressions/Suppression.ts"
import { UnsubscriptionRepository } from "../../suppressions/Unsubscriptions.ts"
import { suppressAddresses } from "../../suppressions/Withdrawals.ts"
import { inTransaction, Transaction } from "../../Transaction.ts"
import { MessageQueue } from "../MessageQueue.ts"
import { OUR_RETRY } from "../Outreach.ts"
import type { ReportedOutcome } from "../Transport.ts"
import { cleanSmtpReply } from "./cleanSmtpReply.ts"

/**
 * Cause of a rejection after a server had accepted the message: our reputation, the message, a full mailbox, or a server that didn't
 * accept it in time.
 */
export const LATE_REFUSAL_CAUSES = ["policy", "content", "full", "expired", "other"] as const
export type LateRefusalCause = (typeof LATE_REFUSAL_CAUSES)[number]

/** The message's content or length (RFC 3463). */
const CONTENT = /\b[45]\.(6\.\d|2\.3\b|3\.4\b)/
const FULL =
  /\b[45]\.2\.2\b|\bfull\b|quota|storage|(disk|enough) space|pleine|llen[oa]\b|cheia|pien[oa]\b|\bvoll\b|переполн/i

/** Returns the cause of a reported rejection that isn't a hard bounce. */
export const lateRefusalCause = (verdict: ReportedOutcome): LateRefusalCause => {
  if (verdict._tag === "Refused") return CONTENT.test(verdict.status) ? "content" : "policy"
  if (verdict._tag === "Bounced") return "other"
  return FULL.test(verdict.reply ?? "") ? "full" : "expired"
}

/** A locked recipient of a returned message. */
interface BouncedRecipient {
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

/**
 * Result of a report: `recorded` as a bounce, or `refused`, which publishes no event; `early` while the message is still being sent,
 * `unknown` without a message.
 */
export type BounceResult = "recorded" | "refused" | "repeated" | "early" | "unknown"

/** Decides the result of a report that a recipient's message wasn't delivered. */
export const decideBounce = (bounced: BouncedRecipient | undefined, verdict: ReportedOutcome): BounceResult => {
  if (bounced === undefined) return "unknown"
  const { recipient, message } = bounced
  if (recipient.bouncedAt !== null) return "repeated"
  if (recipient.sentAt !== null)
    return verdict._tag === "Bounced" && isHardBounce(verdict.reason) ? "recorded" : "refused"
  if (message === undefined) return "unknown"
  if (message.unknownOutcomes === 0 || message.isLeased) return "early"
  // The report replaces the response that a message with unknown outcome never received.
  return verdict._tag === "Refused" ? "refused" : "recorded"
}

/**
 * Handles a report that a sent message wasn't delivered. An accepted message that is rejected later without a hard bounce is counted
 * separately, once. Rejections about us don't suppress the address.
 */
export const reportBounce = Effect.fnUntraced(function* (recipientId: RecipientId, verdict: ReportedOutcome) {
  const bounces = yield* BounceRepository
  const bounced = yield* bounces.lock(recipientId)
  const result = decideBounce(bounced, verdict)
  if (bounced === undefined || (result !== "recorded" && result !== "refused")) return result
  const { recipient } = bounced
  const { organizationId, campaignId, email } = recipient
  const queue = yield* MessageQueue
  const reply = verdict.reply === undefined ? null : cleanSmtpReply(verdict.reply, email)
  if (result === "refused") {
    if (verdict._tag === "Refused") {
      const pause = { status: verdict.status, seconds: OUR_RETRY.Refused }
      yield* queue.countAnswers(organizationId, [{ campaignId, email, answer: null, reply: null, pause }])
    }
    if (recipient.sentAt === null) return result
    return (yield* bounces.storeLateRefusal(recipient, lateRefusalCause(verdict), reply)) ? result : "repeated"
  }
  // The reporting server has given up.
  const answer = verdict._tag === "Bounced" ? verdict.reason : "other"
  const event = yield* composeBounced({ ...recipient, recipientId }, answer)
  yield* bounces.storeBounce(bounced, reply)
  yield* queue.countAnswers(organizationId, [{ campaignId, email, answer, reply }])
  const at = yield* (yield* Transaction).commitTimestamp(organizationId)
  if (isHardBounce(answer)) yield* suppressAddresses(organizationId, [email], "bounced")
  yield* (yield* EventPublisher).publish([event], at)
  return result
}, inTransaction)

type Reason = Extract<SuppressionReason, "complained" | "unsubscribed">

/**
 * Suppression for each feedback type (RFC 5965, 7.3; RFC 6430). Other types concern us, such as `auth-failure` and `virus`, or
 * revoke a complaint, such as `not-spam`, and don't suppress the address.
 */
const REASONS: Readonly<Record<string, Reason>> = {
  abuse: "complained",
  fraud: "complained",
  other: "complained",
  // From drafts of RFC 5965: an unsubscribe button, which isn't a complaint.
  "opt-out": "unsubscribed",
  "opt-out-list": "unsubscribed",
}

/** Returns the suppression reason for a feedback type; undefined if it doesn't suppress the address. */
export const suppressionFor = (feedbackType: string) =>
  Object.hasOwn(REASONS, feedbackType) ? REASONS[feedbackType] : undefined

/**
 * Handles feedback about a message: a complaint suppresses the address in all programs of the organization and is counted once;
 * an opt-out is an unsubscription.
 *
 * Returns `unknown` if no message matches, and `ignored` if it isn't a complaint by its recipient.
 */
export const reportComplaint = Effect.fnUntraced(function* (recipientId: RecipientId, feedbackType: string) {
  const reason = suppressionFor(feedbackType)
  return reason === undefined ? "ignored" : yield* record(recipientId, feedbackType, reason)
})

const record = Effect.fnUntraced(function* (recipientId: RecipientId, feedbackType: string, reason: Reason) {
  const bounces = yield* BounceRepository
  const bounced = yield* bounces.lock(recipientId)
  if (bounced === undefined) return "unknown"
  const { organizationId } = bounced.recipient
  if (reason === "unsubscribed") {
    yield* (yield* UnsubscriptionRepository).ask({ organizationId, recipientId })
    return "recorded"
  }
  if (!(yield* bounces.storeComplaint(bounced.recipient, feedbackType))) return "repeated"
  yield* (yield* Transaction).commitTimestamp(organizationId)
  yield* suppressAddresses(organizationId, [bounced.recipient.email], reason)
  return "recorded"
}, inTransaction)
