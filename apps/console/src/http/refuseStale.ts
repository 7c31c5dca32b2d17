import type { ChangedMeanwhile } from "@outreach/domain/ChangedMeanwhile"
import { Effect } from "effect"
import { refuse } from "./Route.ts"

type Values = Readonly<Record<string, string>>

/** Refuses a change that was made from an old page, with the values that hold `now` and those that were `given`. */
export const refuseStale =
  <E1, R1>(now: Effect.Effect<Values, E1, R1>, given: Values) =>
  <A, E, R>(change: Effect.Effect<A, E | ChangedMeanwhile, R>) =>
    Effect.catchTag(
      change,
      "ChangedMeanwhile",
      Effect.fnUntraced(function* () {
        const values = yield* now
        const differences = Object.entries(given)
          .filter(([name, value]) => value !== values[name])
          .map(([name, value]) => ` ${name}: it is ${values[name]}, and you gave ${value}.`)
        return yield* refuse(
          "StaleForm",
          `Somebody changed this after its page was opened, so nothing was done.${differences.join("")} Open the page again.`,
        )
      }),
    )
