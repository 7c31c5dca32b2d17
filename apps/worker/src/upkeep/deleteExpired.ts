import { IdempotencyRepository } from "@outreach/domain/idempotency/IdempotencyRepository"
import { MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { OperatorRepository } from "@outreach/postgres/operators/OperatorRepository"
import { GaugeSamples } from "@outreach/postgres/today/GaugeSamples"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"

/** Deletes rate windows, idempotency keys, sending rates, samples of gauges, sign-in links and operators' sessions that are over, once a minute, until interrupted. */
export const deleteExpired = Effect.gen(function* () {
  const keys = yield* ApiKeyRepository
  const keptResponses = yield* IdempotencyRepository
  const messages = yield* MessageQueue
  const samples = yield* GaugeSamples
  const operators = yield* OperatorRepository
  const once = Effect.all(
    [keys.forgetWindows, keptResponses.forgetExpired, messages.forgetRates, samples.forget, operators.deleteExpired],
    { discard: true },
  )
  return yield* retryForever("deleteExpired", Effect.andThen(once, Effect.sleep("1 minute")))
})
