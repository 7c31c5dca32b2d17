import { Effect, FiberSet, Latch, Option } from "effect"
import { workerLimits } from "../workerLimits.ts"
import { logFailure, retryForever } from "./retryForever.ts"

/**
 * Claims leases and handles each in a fiber of its own, at most `concurrency`, claiming again as soon as a slot is free.
 *
 * When interrupted it claims no more, and gives what is in flight `drainSeconds` to finish. A lease whose handling fails, or does
 * not finish, is left to end by itself.
 */
export const claimLoop = Effect.fnUntraced(function* <Lease, R1, R2>(
  name: string,
  options: {
    readonly concurrency: number
    /**
     * How many leases must have ended since the last claim to be worth another, so that claims are few where each is dear; default 1.
     * A claim waits for them for 20 ms at the most, and not at all when something new was heard of.
     */
    readonly minSlots?: number
    /** How many may be held, with those whose slot is free before they are handled to the end; default `concurrency`. */
    readonly maxHeld?: number
    readonly drainSeconds: number
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Lease>, never, R1>
    /** `free` frees the slot for another before the end. */
    readonly handle: (lease: Lease, free: Effect.Effect<void>) => Effect.Effect<unknown, never, R2>
    /** Calls its argument whenever there may be something to claim, for as long as it runs; without it there is the pause alone. */
    readonly listen?: (wake: Effect.Effect<void>) => Effect.Effect<never>
  },
) {
  const { concurrency, minSlots = 1, maxHeld = concurrency, drainSeconds, claim, handle, listen } = options
  const { minMs, maxMs, debounceMs } = workerLimits.pause
  const fibers = yield* FiberSet.make()
  // Open when enough finished to be worth a claim, or when there may be something new.
  const wakeUp = yield* Latch.make()
  let inFlight = 0
  let held = 0
  /** How many slots were freed since the last claim, and how many are waited for. */
  let freed = 0
  let enough = minSlots
  let isNotified = true
  let pause: number = minMs

  yield* Effect.addFinalizer(() =>
    FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(drainSeconds * 1000)),
  )

  const availableSlots = () => Math.min(concurrency - inFlight, maxHeld - held)
  const isWorthwhile = () => availableSlots() > 0 && (isNotified || freed >= enough)
  const forkHandler = (lease: Lease) => {
    inFlight += 1
    held += 1
    let isFree = false
    const freeSlot = () => {
      if (!isFree) {
        inFlight -= 1
        freed += 1
      }
      isFree = true
      if (isWorthwhile()) wakeUp.openUnsafe()
    }
    return Effect.suspend(() => handle(lease, Effect.sync(freeSlot))).pipe(
      Effect.catchCause((cause) => logFailure(`${name} failed at a lease`, cause)),
      Effect.ensuring(
        Effect.sync(() => {
          held -= 1
          freeSlot()
        }),
      ),
      FiberSet.run(fibers),
    )
  }

  const claimOnce = Effect.gen(function* () {
    enough = minSlots
    wakeUp.closeUnsafe()
    if (!isWorthwhile()) yield* Effect.timeoutOption(wakeUp.await, debounceMs)
    isNotified = false
    const slots = availableSlots()
    if (slots <= 0) return
    freed = 0
    enough = 1
    wakeUp.closeUnsafe()
    const leases = yield* claim(slots)
    yield* Effect.forEach(leases, forkHandler, { discard: true })
    if (leases.length === slots) return
    pause = leases.length > 0 ? minMs : Math.min(pause * 2, maxMs)
    // What has just finished may have freed a slot of its endpoint.
    const stir = yield* Effect.timeoutOption(wakeUp.await, pause)
    if (Option.isNone(stir)) isNotified = true
  })

  const hint = Effect.sync(() => {
    isNotified = true
    wakeUp.openUnsafe()
  })
  if (listen) yield* Effect.forkScoped(retryForever(`${name}: listening`, listen(hint)))
  return yield* retryForever(name, claimOnce)
}, Effect.scoped)
