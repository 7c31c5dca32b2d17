import { Effect } from "effect"
import { composeOutcome } from "../events/Event.ts"
import type { RecipientId } from "../Identifier.ts"
import { isHardBounce } from "../suppressions/Suppression.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import { type BouncedRecipient, BounceRepository } from "./BounceRepository.ts"
import { cleanSmtpReply } from "./cleanSmtpReply.ts"
import { lateRefusalCause } from "./lateRefusalCause.ts"
import type { MailOutcome } from "./Mailer.ts"
import { OUR_RETRY } from "./Outreach.ts"

/**
 * What becomes of a report: `recorded` as a bounce, or `refused`, which publishes nothing. `early` while the message is still being sent,
 * `unknown` without a message.
 */
export type BounceResult = "recorded" | "refused" | "repeated" | "early" | "unknown"

/** What a report says for good: the verdict, whose `reply` is what the report quotes, as it came. */
export type ReportedOutcome = Extract<MailOutcome, { _tag: "Bounced" | "Deferred" | "Refused" }>

/** Decides what becomes of a report that a recipient's message was not delivered. */
export const decideBounce = (bounced: BouncedRecipient | undefined, verdict: ReportedOutcome): BounceResult => {
  if (bounced === undefined) return "unknown"
  const { recipient, message } = bounced
  if (recipient.bouncedAt !== null) return "repeated"
  if (recipient.sentAt !== null)
    return verdict._tag === "Bounced" && isHardBounce(verdict.reason) ? "recorded" : "refused"
  if (message === undefined) return "unknown"
  if (message.unknownOutcomes === 0 || message.isLeased) return "early"
  // The report is the response that a message with an unknown outcome never got.
  return verdict._tag === "Refused" ? "refused" : "recorded"
}

/**
 * Acts on a report that a sent message was not delivered after all. A message that was accepted, and is refused without a hard bounce, is counted
 * as that, once. What the report says of us marks no address.
 */
export const reportBounce = Effect.fnUntraced(function* (recipientId: RecipientId, verdict: ReportedOutcome) {
  const bounces = yield* BounceRepository
  const bounced = yield* bounces.lock(recipientId)
  const result = decideBounce(bounced, verdict)
  if (bounced === undefined || (result !== "recorded" && result !== "refused")) return result
  const { recipient } = bounced
  const reply = verdict.reply === undefined ? null : cleanSmtpReply(verdict.reply, recipient.email)
  if (result === "refused") {
    if (verdict._tag === "Refused") yield* bounces.pauseDomain(recipient, verdict.status, OUR_RETRY.Refused)
    if (recipient.sentAt === null) return result
    return (yield* bounces.storeLateRefusal(recipient, lateRefusalCause(verdict), reply)) ? result : "repeated"
  }
  // The reporting server has tried for as long as it would.
  const bounceReason = verdict._tag === "Bounced" ? verdict.reason : "other"
  const event = yield* composeOutcome({ ...recipient, recipientId }, bounceReason)
  const at = yield* (yield* Transaction).commitTimestamp(recipient.organizationId)
  yield* bounces.storeBounce(bounced, event, { at, isHardBounce: isHardBounce(bounceReason), reply })
  return result
}, inTransaction)
