import { randomUUID } from "node:crypto"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { describeCause } from "@outreach/process/describeCause"
import { type Cause, Effect, Schedule } from "effect"
import { workerLimits } from "../workerLimits.ts"

const { minMs, maxMs } = workerLimits.backoff

/** Returns the wait after a failure: twice the wait after the failure before it, within bounds. All in milliseconds. */
export const nextWait = (waitMs: number): number => Math.min(Math.max(waitMs * 2, minMs), maxMs)

const backoff = Schedule.min([Schedule.exponential(minMs), Schedule.spaced(maxMs)])

/**
 * Repeats a step until interrupted; the step itself waits when there is nothing to do.
 *
 * Whatever goes wrong is logged, or covered by the monitor of the database, and the step is tried again after a wait that grows with each failure in a row.
 */
export const retryForever = <E, R>(name: string, step: Effect.Effect<unknown, E, R>): Effect.Effect<never, never, R> =>
  step.pipe(
    Effect.sandbox,
    Effect.tapError((cause) => logFailure(`${name} failed`, cause)),
    Effect.retry(backoff),
    Effect.orDie,
    Effect.forever({ disableYield: true }),
  )

/** Logs what went wrong, with an id to speak of it by. Leaves what the state of the database explains to its monitor. */
export const logFailure = Effect.fnUntraced(function* (what: string, cause: Cause.Cause<unknown>) {
  if (yield* (yield* DatabaseMonitor).covers(cause)) return
  yield* Effect.logError(what).pipe(Effect.annotateLogs({ errorId: randomUUID(), errors: describeCause(cause) }))
})
