import { IdempotencyRepository } from "@outreach/domain/idempotency/IdempotencyRepository"
import { MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { GaugeSamples } from "@outreach/postgres/today/GaugeSamples"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"

/** Deletes the rate windows, the idempotency keys, the sending rates and the samples of gauges that are over, once a minute, until interrupted. */
export const deleteExpired = Effect.gen(function* () {
  const keys = yield* ApiKeyRepository
  const keptResponses = yield* IdempotencyRepository
  const messages = yield* MessageQueue
  const samples = yield* GaugeSamples
  const once = Effect.all([keys.forgetWindows, keptResponses.forgetExpired, messages.forgetRates, samples.forget], {
    discard: true,
  })
  return yield* retryForever("deleteExpired", Effect.andThen(once, Effect.sleep("1 minute")))
})
