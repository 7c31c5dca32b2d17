import { IdempotencyRepository } from "@outreach/domain/idempotency/IdempotencyRepository"
import { MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"

/** Deletes the rate windows, the idempotency keys and the sending rates that are over, once a minute, until interrupted. */
export const deleteExpired = Effect.gen(function* () {
  const keys = yield* ApiKeyRepository
  const keptResponses = yield* IdempotencyRepository
  const messages = yield* MessageQueue
  const once = Effect.all([keys.forgetWindows, keptResponses.forgetExpired, messages.forgetRates], { discard: true })
  return yield* retryForever("deleteExpired", Effect.andThen(once, Effect.sleep("1 minute")))
})
