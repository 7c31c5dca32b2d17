import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { FailureGroups } from "@outreach/postgres/deliveries/FailureGroups"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { withRest } from "../loops/withRest.ts"
import { whileBelieved } from "./watchClock.ts"

/**
 * Merges the outcomes of deliveries by the hour, and forgets those and the trends of failures that are older than so many days, hourly; and
 * puts dead letters of the last release into their groups. Until interrupted.
 */
export const mergeOutcomes = Effect.fnUntraced(function* (days: number) {
  const outcomes = yield* DeliveryOutcomes
  const groups = yield* FailureGroups
  const once = Effect.gen(function* () {
    while ((yield* withRest(outcomes.merge)) > 0) {}
    while ((yield* withRest(outcomes.forget(days))) > 0) {}
    yield* groups.forgetHours(days)
  })
  const fill = Effect.gen(function* () {
    while ((yield* withRest(groups.fill)) > 0) {}
  })
  return yield* Effect.all(
    [
      retryForever("mergeOutcomes", Effect.andThen(whileBelieved(once), Effect.sleep("1 hour"))),
      retryForever("groupFailures", Effect.andThen(fill, Effect.sleep("1 minute"))),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
