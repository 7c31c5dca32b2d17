import { DeliveryHistory } from "@outreach/domain/deliveries/DeliveryHistory"
import { Effect } from "effect"
import { persist } from "./persist.ts"

/** Makes room for the days to come in the history of deliveries, and forgets those more than so many days past, until interrupted. */
export const keepHistory = Effect.fnUntraced(function* (days: number) {
  const history = yield* DeliveryHistory
  const once = Effect.gen(function* () {
    const { added, dropped } = yield* history.keep(days)
    if (added + dropped > 0) yield* Effect.logInfo("history moved on").pipe(Effect.annotateLogs({ added, dropped }))
  })
  return yield* persist("history", Effect.andThen(once, Effect.sleep("1 minute")))
})
