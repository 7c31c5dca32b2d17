import type { RecipientId } from "@outreach/domain/Identifier"
import { receiveReply, unsubscribeByMail } from "@outreach/domain/mail/Replies"
import { readReply } from "@outreach/domain/mail/readReply"
import { Effect, Metric } from "effect"
import { metrics } from "../admin/metrics.ts"

/** Unsubscribes the recipients of messages by mail to their addresses for that. */
export const unsubscribeSenders = (recipients: ReadonlyArray<RecipientId>) => countEach(recipients, unsubscribeByMail)

/** Keeps what a person wrote to the return paths of messages, or unsubscribes them. */
export const receiveReplies = (message: Parameters<typeof readReply>[0], recipients: ReadonlyArray<RecipientId>) =>
  countEach(recipients, (recipientId) => receiveReply(recipientId, readReply(message)))

const countEach = Effect.fnUntraced(function* <R>(
  recipients: ReadonlyArray<RecipientId>,
  act: (recipientId: RecipientId) => Effect.Effect<Effect.Success<ReturnType<typeof receiveReply>>, never, R>,
) {
  for (const recipientId of recipients) {
    const result = yield* act(recipientId)
    yield* Metric.update(metrics.replies[result], 1)
    yield* (result === "unsubscribed" ? Effect.logInfo : Effect.logDebug)("mail of a recipient").pipe(
      Effect.annotateLogs({ recipientId, result }),
    )
  }
})
