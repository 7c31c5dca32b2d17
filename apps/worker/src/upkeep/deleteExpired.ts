import { IdempotencyRepository } from "@outreach/domain/idempotency/IdempotencyRepository"
import { MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { PartnerActivity } from "@outreach/postgres/organizations/PartnerActivity"
import { GaugeSamples } from "@outreach/postgres/today/GaugeSamples"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { whileBelieved } from "./watchClock.ts"

/** Deletes rate windows, idempotency keys, sending rates, samples of gauges, counts of requests, sign-in links and operators' sessions that are over, once a minute, until interrupted. */
export const deleteExpired = Effect.gen(function* () {
  const once = Effect.all(
    [
      (yield* ApiKeyRepository).forgetWindows,
      (yield* IdempotencyRepository).forgetExpired,
      (yield* MessageQueue).forgetRates,
      (yield* GaugeSamples).forget,
      (yield* PartnerActivity).forget,
      (yield* OperatorRepository).deleteExpired,
    ],
    { discard: true },
  )
  return yield* retryForever("deleteExpired", Effect.andThen(whileBelieved(once), Effect.sleep("1 minute")))
})
