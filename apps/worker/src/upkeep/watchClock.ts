import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { ClockWatch } from "@outreach/postgres/ClockWatch"
import { Effect } from "effect"
import { repeatEvery } from "../loops/retryForever.ts"

const HOUR_MS = 3_600_000

/** Monitors the database's clock. Logs immediately when it is no longer trusted, hourly after that, and when it is trusted again. Until interrupted. */
export const watchClock = Effect.gen(function* () {
  const clock = yield* ClockWatch
  let loggedAt: number | undefined
  const watch = Effect.gen(function* () {
    const doubt = yield* clock.doubt
    const now = yield* readMonotonicMs
    if (doubt === null && loggedAt !== undefined) {
      loggedAt = undefined
      yield* Effect.logInfo("database clock trusted again")
    } else if (doubt !== null && (loggedAt === undefined || now - loggedAt >= HOUR_MS)) {
      loggedAt = now
      yield* Effect.annotateLogs(Effect.logWarning("database clock not trusted, deletion by age paused"), { doubt })
    }
  })
  return yield* repeatEvery("watchClock", "10 seconds", watch)
})

/** Runs an effect that deletes data by age, unless the database's clock isn't trusted. */
export const whileClockTrusted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(ClockWatch, ({ doubt }) =>
    Effect.flatMap(doubt, (doubt) => (doubt === null ? Effect.asVoid(effect) : Effect.void)),
  )
