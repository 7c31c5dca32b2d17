import { ClockWatch } from "@outreach/postgres/ClockWatch"
import { Clock, Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"

const HOUR_MS = 3_600_000

/** Monitors the database's clock. Logs immediately when it is no longer trusted, hourly after that, and when it is trusted again. Until interrupted. */
export const watchClock = Effect.gen(function* () {
  const clock = yield* ClockWatch
  let loggedAt: number | undefined
  const watch = Effect.gen(function* () {
    const doubt = yield* clock.doubt
    const now = Number(yield* Clock.monotonicTimeNanos) / 1e6
    if (doubt === null && loggedAt !== undefined) {
      loggedAt = undefined
      yield* Effect.logInfo("database clock trusted again")
    } else if (doubt !== null && (loggedAt === undefined || now - loggedAt >= HOUR_MS)) {
      loggedAt = now
      yield* Effect.logWarning("database clock not trusted, deletion by age paused").pipe(
        Effect.annotateLogs({ doubt }),
      )
    }
  })
  return yield* retryForever("watchClock", Effect.andThen(watch, Effect.sleep("10 seconds")))
})

/** Runs an effect that deletes data by age, unless the database's clock isn't trusted. */
export const whileClockTrusted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(ClockWatch, ({ doubt }) =>
    Effect.flatMap(doubt, (doubt) => (doubt === null ? Effect.asVoid(effect) : Effect.void)),
  )
