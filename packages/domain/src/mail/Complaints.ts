import { Effect } from "effect"
import type { RecipientId } from "../Identifier.ts"
import type { SuppressionReason } from "../suppressions/Suppression.ts"
import { UnsubscriptionRepository } from "../suppressions/UnsubscriptionRepository.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import { BounceRepository } from "./BounceRepository.ts"

type Reason = Extract<SuppressionReason, "complained" | "unsubscribed">

/**
 * How each kind of feedback (RFC 5965 7.3, RFC 6430) suppresses the address. All others concern us, such as `auth-failure` and `virus`, or
 * take a complaint back, such as `not-spam`: they mark no address.
 */
const REASONS: Readonly<Record<string, Reason>> = {
  abuse: "complained",
  fraud: "complained",
  other: "complained",
  // From drafts of RFC 5965: a button to unsubscribe, which is not a complaint.
  "opt-out": "unsubscribed",
  "opt-out-list": "unsubscribed",
}

/** Returns why feedback of a kind suppresses the address it is about; undefined when it does not. */
export const suppressionFor = (feedbackType: string) =>
  Object.hasOwn(REASONS, feedbackType) ? REASONS[feedbackType] : undefined

/**
 * Acts on feedback on a message to a recipient: a complaint suppresses the address in every program of the organization and is counted once, and a
 * wish for no more e-mails is an unsubscription.
 *
 * Returns `unknown` when no message matches, and `ignored` when it is not a complaint by its recipient.
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
  yield* bounces.suppress(bounced.recipient, reason)
  return "recorded"
}, inTransaction)
