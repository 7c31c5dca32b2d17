import { Effect } from "effect"
import { composeOutcome } from "../events/Event.ts"
import type { RecipientId } from "../Identifier.ts"
import { isHardBounce } from "../suppressions/Suppression.ts"
import { Transaction } from "../Transaction.ts"
import { type BouncedRecipient, BounceRepository } from "./BounceRepository.ts"
import { cleanSmtpReply } from "./cleanSmtpReply.ts"
import type { MailOutcome } from "./Mailer.ts"
import { OUR_RETRY } from "./Outreach.ts"

/** What becomes of a report; `early` while the message is still being sent or the organization is frozen, `unknown` when there is no message. */
export type BounceResult = "recorded" | "repeated" | "early" | "unknown"

/** Decides what becomes of a report that a recipient's message was not delivered. */
export const decideBounce = (bounced: BouncedRecipient | undefined): BounceResult => {
  if (bounced === undefined) return "unknown"
  const { recipient, isFrozen, message } = bounced
  if (isFrozen) return "early"
  if (recipient.bouncedAt !== null) return "repeated"
  if (recipient.sentAt !== null) return "recorded"
  if (message === undefined) return "unknown"
  // The report is the response that a message with an unknown outcome never got.
  return message.unknownOutcomes > 0 && !message.isLeased ? "recorded" : "early"
}

/** What a report says for good: the verdict, whose `reply` is what the report quotes, as it came. */
export type ReportedOutcome = Extract<MailOutcome, { _tag: "Bounced" | "Deferred" | "Refused" }>

/** Acts on a report that a sent message was not delivered after all. What the report says of us marks no address. */
export const reportBounce = Effect.fnUntraced(function* (recipientId: RecipientId, verdict: ReportedOutcome) {
  const bounces = yield* BounceRepository
  const transaction = yield* Transaction
  if (verdict._tag === "Refused") {
    yield* bounces.pauseDomain(recipientId, verdict.status, OUR_RETRY.Refused)
    return "refused"
  }
  const record = Effect.gen(function* () {
    const bounced = yield* bounces.lock(recipientId)
    const result = decideBounce(bounced)
    if (bounced === undefined || result !== "recorded") return result
    const { organizationId, email } = bounced.recipient
    // The reporting server has tried for as long as it would.
    const bounceReason = verdict._tag === "Bounced" ? verdict.reason : "other"
    const event = yield* composeOutcome({ ...bounced.recipient, recipientId }, bounceReason)
    const reply = verdict.reply === undefined ? null : cleanSmtpReply(verdict.reply, email)
    const at = yield* transaction.commitTimestamp(organizationId)
    yield* bounces.storeBounce(bounced, event, { at, isHardBounce: isHardBounce(bounceReason), reply })
    return result
  })
  return yield* transaction.run(record)
})
