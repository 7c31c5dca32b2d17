import { Effect, FiberSet, Latch, Option } from "effect"
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
     * How many leases must have ended since the last claim to be worth another, so that claims are few where each is dear; default 1.
     * A claim waits for them for 20 ms at the most, and not at all when something new was heard of.
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
  // Open when enough finished to be worth a claim, or when there may be something new.
  const stirred = yield* Latch.make()
  let inFlight = 0
  let held = 0
  /** How many have made room since the last claim, and how many are waited for. */
  let freed = 0
  let enough = leastRoom
  let isHinted = true
  let pause: number = shortestMs

  yield* Effect.addFinalizer(() =>
    FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(drainSeconds * 1000)),
  )

  const roomNow = () => Math.min(atOnce - inFlight, mostHeld - held)
  const isWorthwhile = () => roomNow() > 0 && (isHinted || freed >= enough)
  const handleApart = (lease: Lease) => {
    inFlight += 1
    held += 1
    let isFree = false
    const makeRoom = () => {
      if (!isFree) {
        inFlight -= 1
        freed += 1
      }
      isFree = true
      if (isWorthwhile()) stirred.openUnsafe()
    }
    return handle(lease, Effect.sync(makeRoom)).pipe(
      Effect.catchCause((cause) => logFailure(`${name} failed at a lease`, cause)),
      Effect.ensuring(
        Effect.sync(() => {
          held -= 1
          makeRoom()
        }),
      ),
      FiberSet.run(fibers),
    )
  }

  const claimOnce = Effect.gen(function* () {
    enough = leastRoom
    stirred.closeUnsafe()
    if (!isWorthwhile()) yield* Effect.timeoutOption(stirred.await, gatherMs)
    isHinted = false
    const room = roomNow()
    if (room <= 0) return
    freed = 0
    enough = 1
    stirred.closeUnsafe()
    const leases = yield* claim(room)
    yield* Effect.forEach(leases, handleApart, { discard: true })
    if (leases.length === room) return
    pause = leases.length > 0 ? shortestMs : Math.min(pause * 2, longestMs)
    // What has just finished may have made room at its endpoint.
    const stir = yield* Effect.timeoutOption(stirred.await, pause)
    if (Option.isNone(stir)) isHinted = true
  })

  const hint = Effect.sync(() => {
    isHinted = true
    stirred.openUnsafe()
  })
  if (listen) yield* Effect.forkScoped(persist(`${name}: listening`, listen(hint)))
  return yield* persist(name, claimOnce)
}, Effect.scoped)
