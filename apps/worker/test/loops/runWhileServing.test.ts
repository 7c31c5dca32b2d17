import { RestoreRepository } from "@outreach/domain/restores/Restores"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { sql } from "@outreach/testing/sql"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { runWhileServing } from "../../src/loops/runWhileServing.ts"

const run = runOnDatabase()

/** A worker next to a test. */
interface Worker {
  /** Whether its work is active. */
  isRunning: boolean
  /** Error of its wall clock. Elapsed time is correct, as on a real machine. */
  wrongMs: number
  /** Whether it sees a promoted server of the same cluster instead of the database, and how often it did. */
  isPromoted: boolean
  promotedReads: number
}

const wrongClock = (worker: Worker) =>
  Effect.provideServiceEffect(
    Clock.Clock,
    Effect.map(
      Clock.Clock,
      (clock): Clock.Clock =>
        Object.setPrototypeOf(
          { currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + worker.wrongMs) },
          clock,
        ),
    ),
  )

const promotedServer = (worker: Worker) =>
  Effect.provideServiceEffect(
    RestoreRepository,
    Effect.map(RestoreRepository, (restores) => ({
      ...restores,
      databaseState: Effect.map(restores.databaseState, (state) => {
        const promoted = `${state.current!.split("/")[0]}/0000000F/0-1@1`
        if (!worker.isPromoted) return state
        worker.promotedReads += 1
        return { ...state, recorded: promoted, current: promoted }
      }),
    })),
  )

const becomes = Effect.fnUntraced(function* (is: () => boolean, wanted: boolean) {
  // The check runs every five seconds.
  while (is() !== wanted) {
    yield* TestClock.adjust("1 second")
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
  }
})

/** Moves the database to another timeline, as a promotion does, last seen a number of seconds ago. */
const promote = (unseenSeconds: number) =>
  sql`
    update clock_watch set identity = split_part(current_identity(), '/', 1) || '/00000000',
      seen_at = clock_timestamp() - make_interval(secs => ${unseenSeconds}::int)`

/** Runs `during` next to a worker. */
const beside = <A, E, R>(failoverSeconds: number, during: (worker: Worker) => Effect.Effect<A, E, R>) => {
  const worker: Worker = { isRunning: false, wrongMs: 0, isPromoted: false, promotedReads: 0 }
  const work = Effect.acquireUseRelease(
    Effect.sync(() => {
      worker.isRunning = true
    }),
    () => Effect.never,
    () =>
      Effect.sync(() => {
        worker.isRunning = false
      }),
  )
  return Effect.gen(function* () {
    const { record, databaseState } = yield* RestoreRepository
    yield* record((yield* databaseState).current!)
    yield* TestClock.setTime((yield* databaseState).now)
    const serving = runWhileServing(work, failoverSeconds).pipe(wrongClock(worker), promotedServer(worker))
    const fiber = yield* Effect.forkChild(serving)
    const result = yield* during(worker)
    yield* Fiber.interrupt(fiber)
    expect(worker.isRunning).toBe(false)
    return result
  }).pipe(Effect.provide(TestClock.layer()))
}

describe("a worker's work", () => {
  it("pauses while its clock and the database's differ by over an hour, and then resumes by itself", () =>
    run(
      beside(0, (worker) =>
        Effect.gen(function* () {
          for (const days of [800, -800]) {
            yield* becomes(() => worker.isRunning, true)
            worker.wrongMs = days * 86_400_000
            yield* becomes(() => worker.isRunning, false)
            worker.wrongMs = 0
          }
          yield* becomes(() => worker.isRunning, true)
        }),
      ),
    ))

  it("stops when the database is on another timeline, and resumes once an operator has accepted it", () =>
    run(
      beside(0, (worker) =>
        Effect.gen(function* () {
          const { record, databaseState } = yield* RestoreRepository
          yield* becomes(() => worker.isRunning, true)
          expect((yield* databaseState).recorded).toBe((yield* databaseState).current)
          yield* promote(0)
          yield* becomes(() => worker.isRunning, false)
          yield* record((yield* databaseState).current!)
          yield* becomes(() => worker.isRunning, true)
        }),
      ),
    ))

  it("continues after a failover within the allowed time, and stops after a longer one", () =>
    run(
      beside(60, (worker) =>
        Effect.gen(function* () {
          const { databaseState } = yield* RestoreRepository
          yield* becomes(() => worker.isRunning, true)
          yield* promote(30)
          let now = yield* databaseState
          expect(now.fault).toBe("moved")
          while (now.recorded !== now.current) {
            expect(worker.isRunning).toBe(true)
            yield* TestClock.adjust("1 second")
            now = yield* databaseState
          }
          expect(now.unseenSeconds).toBeLessThan(30)
          yield* promote(61)
          yield* becomes(() => worker.isRunning, false)
        }),
      ),
    ))

  it("stops when the old primary returns after a promotion, and resumes once an operator has accepted it", () =>
    run(
      beside(60, (worker) =>
        Effect.gen(function* () {
          const { record, databaseState } = yield* RestoreRepository
          worker.isPromoted = true
          // The second check starts after the first has ended.
          yield* becomes(() => worker.promotedReads > 1, true)
          worker.isPromoted = false
          yield* becomes(() => worker.isRunning, false)
          // The other workers pause, too.
          let now = yield* databaseState
          while (now.fault === null) now = yield* databaseState
          expect(now).toMatchObject({ fault: "moved", recorded: expect.stringContaining("/0000000F/") })
          yield* record(now.current!)
          yield* becomes(() => worker.isRunning, true)
        }),
      ),
    ))
})
