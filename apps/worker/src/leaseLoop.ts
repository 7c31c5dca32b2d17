import { Effect, FiberSet, Latch } from "effect"
import { logFailure } from "./logFailure.ts"
import { persist } from "./persist.ts"
import { workerLimits } from "./workerLimits.ts"

/**
 * Claims leases and handles each in a fiber of its own, at most `atOnce`, claiming again as soon as there is room.
 *
 * When interrupted it claims no more, and gives what is in flight `drainSeconds` to finish. A lease whose handling fails, or does
 * not finish, is left to end by itself.
 */
export const leaseLoop = Effect.fnUntraced(function* <Lease, R1, R2>(
  name: string,
  options: {
    readonly atOnce: number
    /**
     * How much room a claim waits for, so that claims are few where each is dear; default 1. It waits for 20 ms at the most, so that
     * leases that take long keep no others waiting.
     */
    readonly leastRoom?: number
    /** How many may be held, with those whose room is free before they are handled to the end; default `atOnce`. */
    readonly mostHeld?: number
    readonly drainSeconds: number
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Lease>, never, R1>
    /** `free` makes room for another before the end. */
    readonly handle: (lease: Lease, free: Effect.Effect<void>) => Effect.Effect<unknown, never, R2>
    /** Calls its argument whenever there may be something to claim, for as long as it runs; without it there is the pause alone. */
    readonly listen?: (wake: Effect.Effect<void>) => Effect.Effect<never>
  },
) {
  const { atOnce, leastRoom = 1, mostHeld = atOnce, drainSeconds, claim, handle, listen } = options
  const { shortestMs, longestMs, gatherMs } = workerLimits.pause
  const fibers = yield* FiberSet.make()
  // Open when something finished, and so made room, or when there may be something new.
  const stirred = yield* Latch.make()
  let inFlight = 0
  let held = 0
  let wakesAt = 1
  let pause: number = shortestMs

  yield* Effect.addFinalizer(() =>
    FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(drainSeconds * 1000)),
  )

  const roomNow = () => Math.min(atOnce - inFlight, mostHeld - held)
  const wake = Effect.suspend(() => (roomNow() >= wakesAt ? stirred.open : Effect.void))

  const handleApart = (lease: Lease) => {
    inFlight += 1
    held += 1
    let isFree = false
    const free = Effect.suspend(() => {
      if (isFree) return Effect.void
      isFree = true
      inFlight -= 1
      return wake
    })
    return handle(lease, free).pipe(
      Effect.catchCause((cause) => logFailure(`${name} failed at a lease`, cause)),
      Effect.ensuring(
        Effect.suspend(() => {
          held -= 1
          return isFree ? wake : free
        }),
      ),
      FiberSet.run(fibers),
    )
  }

  const claimOnce = Effect.gen(function* () {
    wakesAt = leastRoom
    yield* stirred.close
    if (roomNow() < leastRoom) yield* Effect.timeoutOption(stirred.await, gatherMs)
    const room = roomNow()
    if (room <= 0) return
    // A hint that comes from here on is no longer for this claim.
    wakesAt = 1
    yield* stirred.close
    const leases = yield* claim(room)
    yield* Effect.forEach(leases, handleApart, { discard: true })
    if (leases.length === room) return
    pause = leases.length > 0 ? shortestMs : Math.min(pause * 2, longestMs)
    // What has just finished may have made room at its endpoint.
    yield* Effect.timeoutOption(stirred.await, pause)
  })

  if (listen) yield* Effect.forkScoped(persist(`${name}: listening`, listen(Effect.asVoid(stirred.open))))
  return yield* persist(name, claimOnce)
}, Effect.scoped)
