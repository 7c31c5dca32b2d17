import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { withRest } from "../loops/withRest.ts"
import { whileBelieved } from "./watchClock.ts"

/**
 * Merges the outcomes of deliveries by the hour, and forgets those and the trends of failures that are older than `days`, hourly,
 * until interrupted.
 */
export const mergeOutcomes = Effect.fnUntraced(function* (days: number) {
  const outcomes = yield* DeliveryOutcomes
  const once = Effect.gen(function* () {
    while ((yield* withRest(outcomes.merge)) > 0) {}
    while ((yield* withRest(outcomes.forget(days))) > 0) {}
    yield* outcomes.forgetTrends(days)
  })
  return yield* retryForever("mergeOutcomes", Effect.andThen(whileBelieved(once), Effect.sleep("1 hour")))
})
