import { Effect } from "effect"
import type { RecipientId } from "../Identifier.ts"
import { UnsubscriptionRepository } from "../suppressions/UnsubscriptionRepository.ts"
import { inTransaction } from "../Transaction.ts"
import { BounceRepository } from "./BounceRepository.ts"

/** Unsubscribes the recipient of a message from its organization; `unknown` for an unknown id. */
export const unsubscribeByMail = Effect.fnUntraced(function* (recipientId: RecipientId) {
  const bounced = yield* (yield* BounceRepository).lock(recipientId)
  if (bounced === undefined) return "unknown" as const
  const { organizationId } = bounced.recipient
  yield* (yield* UnsubscriptionRepository).ask({ organizationId, recipientId })
  return "unsubscribed" as const
}, inTransaction)
