import { DeliveryHistory } from "@outreach/domain/deliveries/DeliveryHistory"
import { HitLedger } from "@outreach/domain/outreach/HitLedger"
import { Effect } from "effect"
import { persist } from "./persist.ts"

/** Makes room for the days to come in the history of deliveries, and forgets deliveries and hits more than so many days past, until interrupted. */
export const keepHistory = Effect.fnUntraced(function* (days: number) {
  const history = yield* DeliveryHistory
  const hits = yield* HitLedger
  const keep = Effect.gen(function* () {
    const { added, dropped } = yield* history.keep(days)
    if (added + dropped > 0) yield* Effect.logInfo("history moved on").pipe(Effect.annotateLogs({ added, dropped }))
  })
  const forgetAll = Effect.gen(function* () {
    while (true) {
      const [took, forgotten] = yield* Effect.timed(hits.forget(days))
      if (forgotten === 0) return
      // As long a rest as the statement took leaves the database to others for half of the time.
      yield* Effect.sleep(took)
    }
  })
  const everyMinute = Effect.sleep("1 minute")
  // Apart, so that a long forgetting keeps no partition waiting.
  return yield* Effect.all(
    [
      persist("history", Effect.andThen(keep, everyMinute)),
      persist("forgetHits", Effect.andThen(forgetAll, everyMinute)),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
