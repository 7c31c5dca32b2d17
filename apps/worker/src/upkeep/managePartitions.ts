import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { DeliveryHistory } from "@outreach/postgres/deliveries/DeliveryHistory"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"

/** Creates room for the days to come in the history of deliveries, and forgets deliveries and hits more than so many days past, until interrupted. */
export const managePartitions = Effect.fnUntraced(function* (days: number) {
  const history = yield* DeliveryHistory
  const hits = yield* HitRepository
  const keep = Effect.gen(function* () {
    const { added, dropped } = yield* history.keep(days)
    if (added + dropped > 0) yield* Effect.logInfo("partitions rotated").pipe(Effect.annotateLogs({ added, dropped }))
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
      retryForever("history", Effect.andThen(keep, everyMinute)),
      retryForever("forgetHits", Effect.andThen(forgetAll, everyMinute)),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
