import { Effect } from "effect"
import { composeBounced } from "../../events/Event.ts"
import { EventPublisher } from "../../events/EventPublisher.ts"
import type { RecipientId } from "../../Identifier.ts"
import { isHardBounce } from "../../suppressions/Suppression.ts"
import { suppressAddresses } from "../../suppressions/Withdrawals.ts"
import { inTransaction, Transaction } from "../../Transaction.ts"
import { MessageQueue } from "../MessageQueue.ts"
import { OUR_RETRY } from "../Outreach.ts"
import type { ReportedOutcome } from "../Transport.ts"
import { type BouncedRecipient, BounceRepository } from "./BounceRepository.ts"
import { cleanSmtpReply } from "./cleanSmtpReply.ts"
import { lateRefusalCause } from "./lateRefusalCause.ts"

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
