import { randomUUID } from "node:crypto"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { Hints, type Topic } from "@outreach/postgres/events/Hints"
import { describeCause } from "@outreach/process/describeCause"
import { type Cause, type Duration, Effect, Exit, Latch } from "effect"

/** Wait of a loop after a failure; doubles with each further failure. */
const BACKOFF = { minMs: 500, maxMs: 30_000 }
/** Poll interval of a queue whose next rows can't be claimed yet. */
export const POLL = { minMs: 50, maxMs: 1000 }

/** Returns the wait after a failure: twice the previous wait, within limits, in milliseconds. */
export const nextWait = (waitMs: number): number => Math.min(Math.max(waitMs * 2, BACKOFF.minMs), BACKOFF.maxMs)

/**
 * Repeats a step until interrupted. The step itself waits when it is idle.
 *
 * Failures are logged (unless the database monitor covers them), and the step is retried with growing waits.
 * When the database recovers, it is retried immediately.
 */
export const retryForever = Effect.fnUntraced(function* <E, R>(
  name: string,
  step: Effect.Effect<unknown, E, R>,
): Effect.fn.Return<never, never, R> {
  const { recoveries } = yield* DatabaseMonitor
  let waitMs = 0
  while (true) {
    let seen = recoveries.count
    const exit = yield* Effect.exit(step)
    if (Exit.isSuccess(exit)) {
      waitMs = 0
      continue
    }
    yield* logFailure(`${name} failed`, exit.cause)
    waitMs = nextWait(recoveries.count === seen ? waitMs : 0)
    seen = recoveries.count
    yield* Effect.raceFirst(Effect.sleep(waitMs), recoveries.after(seen))
    if (recoveries.count !== seen) waitMs = 0
  }
})

/** Logs a failure with a reference id. Leaves failures that the database's state explains to its monitor. */
export const logFailure = Effect.fnUntraced(function* (what: string, cause: Cause.Cause<unknown>) {
  if (yield* (yield* DatabaseMonitor).covers(cause)) return
  yield* Effect.logError(what).pipe(Effect.annotateLogs({ errorId: randomUUID(), errors: describeCause(cause) }))
})

/** Repeats a step until interrupted, with a pause after each. */
export const repeatEvery = <E, R>(name: string, pause: Duration.Input, step: Effect.Effect<unknown, E, R>) =>
  retryForever(name, Effect.andThen(step, Effect.sleep(pause)))

/**
 * Repeats a step until interrupted. The step returns the milliseconds until more work is due. The pause ends early with a hint about the topic,
 * or when a hint may have been lost.
 */
export const repeatWhenDue = Effect.fnUntraced(function* <E, R>(
  name: string,
  wakeTopic: Topic,
  step: Effect.Effect<number, E, R>,
) {
  const wakeUp = yield* Latch.make()
  const hints = yield* Hints
  yield* Effect.forkScoped(hints.listen(({ topic }) => (topic === wakeTopic ? wakeUp.open : Effect.void)))
  return yield* retryForever(
    name,
    Effect.gen(function* () {
      yield* wakeUp.close
      const waitMs = Math.min(yield* step, hints.checkEveryMs())
      if (waitMs > 0) yield* Effect.timeoutOption(wakeUp.await, waitMs)
    }),
  )
}, Effect.scoped)

/** Returns the milliseconds until a queue's next step, from the rows that this one finished; undefined if none were waiting. */
export const untilMore = (done: number | undefined): number => {
  if (done === undefined) return Number.POSITIVE_INFINITY
  return done > 0 ? 0 : POLL.maxMs
}

/** Runs an effect, then sleeps as long as it took, so that others can use the database half of the time. */
export const withPauses = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.timed(effect), ([took, result]) => Effect.as(Effect.sleep(took), result))

/** Repeats a step that handles some rows at a time, with a rest after each, until none are left. */
export const repeatUntilEmpty = <E, R>(some: Effect.Effect<number, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(withPauses(some), (count) => (count > 0 ? repeatUntilEmpty(some) : Effect.void))

/**
 * Creates a step that does some work for each organization in turn, and returns the amount done; undefined without organizations.
 *
 * A failure is logged with its organization, which is then skipped for a growing wait; the others continue.
 * When the database recovers, waits end.
 */
export const processInTurns = <E1, R1, E2, R2>(
  name: string,
  organizations: Effect.Effect<ReadonlyArray<OrganizationId>, E1, R1>,
  work: (organizationId: OrganizationId) => Effect.Effect<number, E2, R2>,
): Effect.Effect<number | undefined, E1, R1 | R2> => {
  const failures = new Map<OrganizationId, { readonly waitMs: number; readonly until: number }>()
  let seen: number | undefined
  return Effect.gen(function* () {
    const { recoveries } = yield* DatabaseMonitor
    if (recoveries.count !== seen) failures.clear()
    seen = recoveries.count
    const listed = yield* organizations
    for (const id of failures.keys()) if (!listed.includes(id)) failures.delete(id)
    let done = 0
    for (const organizationId of listed) {
      const failure = failures.get(organizationId)
      if (failure !== undefined && failure.until > (yield* readMonotonicMs)) continue
      const exit = yield* Effect.exit(work(organizationId))
      if (Exit.isSuccess(exit)) {
        failures.delete(organizationId)
        done += exit.value
      } else {
        yield* Effect.annotateLogs(logFailure(`${name} failed`, exit.cause), { organizationId })
        const waitMs = nextWait(failure?.waitMs ?? 0)
        failures.set(organizationId, { waitMs, until: (yield* readMonotonicMs) + waitMs })
      }
    }
    return listed.length > 0 ? done : undefined
  })
}
