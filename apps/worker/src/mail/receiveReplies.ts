import type { RecipientId } from "@outreach/domain/Identifier"
import { receiveReply, unsubscribeByMail } from "@outreach/domain/mail/Replies"
import { readReply } from "@outreach/domain/mail/readReply"
import { headsOf } from "@outreach/mail/returned/parseReturned"
import { Effect, Metric } from "effect"
import { metrics } from "../admin/metrics.ts"

type Message = Parameters<typeof headsOf>[0]

/** Reports whether a program wrote a message of its own accord (RFC 3834 5), as mail programs that unsubscribe for people may say. */
export const isGenerated = (message: Message): boolean =>
  /^\s*auto-generated\b/i.test(headsOf(message).get("auto-submitted") ?? "")

/** Unsubscribes the recipients of messages by mail to their addresses for that; returns `early` if it must come again later. */
export const unsubscribeSenders = (recipients: ReadonlyArray<RecipientId>) => countEach(recipients, unsubscribeByMail)

/** Keeps what a person wrote to the return paths of messages, or unsubscribes them; returns `early` if it must come again later. */
export const receiveReplies = (message: Message, recipients: ReadonlyArray<RecipientId>) =>
  countEach(recipients, (recipientId) => receiveReply(recipientId, readReply(message)))

const countEach = Effect.fnUntraced(function* <R>(
  recipients: ReadonlyArray<RecipientId>,
  act: (recipientId: RecipientId) => Effect.Effect<Effect.Success<ReturnType<typeof receiveReply>>, never, R>,
) {
  for (const recipientId of recipients) {
    const result = yield* act(recipientId)
    if (result === "early") return result
    yield* Metric.update(metrics.replies[result], 1)
    yield* (result === "unsubscribed" ? Effect.logInfo : Effect.logDebug)("mail of a recipient").pipe(
      Effect.annotateLogs({ recipientId, result }),
    )
  }
  return undefined
})
