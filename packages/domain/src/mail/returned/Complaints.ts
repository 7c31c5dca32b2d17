import { Effect } from "effect"
import type { RecipientId } from "../../Identifier.ts"
import type { SuppressionReason } from "../../suppressions/Suppression.ts"
import { UnsubscriptionRepository } from "../../suppressions/UnsubscriptionRepository.ts"
import { suppressAddresses } from "../../suppressions/Withdrawals.ts"
import { inTransaction, Transaction } from "../../Transaction.ts"
import { BounceRepository } from "./BounceRepository.ts"

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
