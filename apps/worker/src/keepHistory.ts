import { DeliveryHistory } from "@outreach/domain/deliveries/DeliveryHistory"
import { HitLedger } from "@outreach/domain/outreach/HitLedger"
import { Effect } from "effect"
import { persist } from "./persist.ts"

/** Makes room for the days to come in the history of deliveries, and forgets deliveries and hits more than so many days past, until interrupted. */
export const keepHistory = Effect.fnUntraced(function* (days: number) {
  const history = yield* DeliveryHistory
  const hits = yield* HitLedger
  const once = Effect.gen(function* () {
    const { added, dropped } = yield* history.keep(days)
    if (added + dropped > 0) yield* Effect.logInfo("history moved on").pipe(Effect.annotateLogs({ added, dropped }))
    yield* hits.forget(days)
  })
  return yield* persist("history", Effect.andThen(once, Effect.sleep("1 minute")))
})
