import { Effect } from "effect"
import type { RecipientId } from "../Identifier.ts"
import { UnsubscriptionRepository } from "../suppressions/UnsubscriptionRepository.ts"
import { inTransaction } from "../Transaction.ts"
import { type BouncedRecipient, BounceRepository } from "./BounceRepository.ts"
import { isUnsubscribeRequest } from "./isUnsubscribeRequest.ts"
import type { ReplyText } from "./Reply.ts"
import { ReplyRepository } from "./ReplyRepository.ts"

/** Unsubscribes the recipient of a message from its organization; `unknown` for an id of nobody. */
export const unsubscribeByMail = Effect.fnUntraced(function* (recipientId: RecipientId) {
  return yield* ofRecipient(recipientId, unsubscribe)
}, inTransaction)

/** Keeps what a person wrote to the return path of their message, for an operator; one who asks for no more e-mails is unsubscribed instead. */
export const receiveReply = Effect.fnUntraced(function* (recipientId: RecipientId, reply: ReplyText) {
  const { keep } = yield* ReplyRepository
  return yield* ofRecipient(recipientId, (bounced) =>
    isUnsubscribeRequest(reply)
      ? unsubscribe(bounced)
      : keep({ organizationId: bounced.recipient.organizationId, recipientId }, reply),
  )
}, inTransaction)

const unsubscribe = Effect.fnUntraced(function* ({ recipient: { organizationId, id } }: BouncedRecipient) {
  yield* (yield* UnsubscriptionRepository).ask({ organizationId, recipientId: id })
  return "unsubscribed" as const
})

const ofRecipient = Effect.fnUntraced(function* <A, R>(
  recipientId: RecipientId,
  act: (bounced: BouncedRecipient) => Effect.Effect<A, never, R>,
) {
  const bounced = yield* (yield* BounceRepository).lock(recipientId)
  if (bounced === undefined) return "unknown" as const
  return yield* act(bounced)
})
