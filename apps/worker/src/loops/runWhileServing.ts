import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { type DatabaseState, decideService, isClockSkewed, isHistoryLost } from "@outreach/domain/restores/Restore"
import { RestoreRepository } from "@outreach/domain/restores/Restores"
import { Clock, Effect, Latch, Metric } from "effect"
import { metrics } from "../metrics.ts"
import { retryForever } from "./retryForever.ts"

/** Interval of the check whether sending is allowed. */
const CHECK_EVERY_MS = 5000
/** Interval of the reminder of a paused worker. */
const REMIND_EVERY_MS = 60_000

/**
 * Runs work while sending is allowed, until interrupted. After a restore, promotion or move of the database, it waits for an
 * operator, and also while the clocks of this process and the database differ; the work is interrupted meanwhile.
 */
export const runWhileServing = Effect.fnUntraced(function* <A, R>(
  work: Effect.Effect<A, never, R>,
  /** Maximum duration of a lossless failover; see `decideService`. */
  failoverSeconds: number,
) {
  const restores = yield* RestoreRepository
  let remindAt = Number.NEGATIVE_INFINITY
  /** Identity of the server that this process saw last. */
  let seen: string | null = null

  const check = Effect.fnUntraced(function* (state: DatabaseState) {
    const service = decideService(state, failoverSeconds)
    const about = { fault: state.fault, recorded: state.recorded, current: state.current }
    const isSkewed = isClockSkewed(state.now, yield* Clock.currentTimeMillis)
    if (service === "wait" || isSkewed) {
      const now = yield* readMonotonicMs
      if (now < remindAt) return false
      remindAt = now + REMIND_EVERY_MS
      yield* service === "wait"
        ? Effect.logWarning("worker paused, see ops restores show").pipe(Effect.annotateLogs(about))
        : Effect.logWarning("worker paused, its clock and the database's differ by over an hour").pipe(
            Effect.annotateLogs({ database: new Date(state.now).toISOString() }),
          )
      return false
    }
    remindAt = Number.NEGATIVE_INFINITY
    if (service === "serve") yield* restores.see
    else {
      yield* restores.record(state.current!)
      if (state.recorded !== null) {
        yield* Effect.logWarning("database was promoted, worker continues").pipe(Effect.annotateLogs(about))
      }
    }
    return true
  })
  const serving = yield* Latch.make()
  const waiting = yield* Latch.make()
  const watch = Effect.gen(function* () {
    const state = yield* restores.databaseState
    const isLost = isHistoryLost(state.current, seen)
    const isServing = !isLost && (yield* check(state))
    yield* Metric.update(metrics.paused, isServing ? 0 : 1)
    yield* isServing ? waiting.close : serving.close
    yield* isServing ? serving.open : waiting.open
    // An old primary has returned. It doesn't know that it was replaced: the next check finds this record.
    if (isLost) yield* restores.recordLost(seen!)
    seen = state.current ?? seen
    yield* Effect.sleep(CHECK_EVERY_MS)
  })
  // A failed check changes nothing: the database is unavailable, which the work reports.
  yield* Effect.forkScoped(retryForever("restore check", watch))
  return yield* Effect.forever(Effect.andThen(serving.await, Effect.raceFirst(work, waiting.await)))
}, Effect.scoped)
