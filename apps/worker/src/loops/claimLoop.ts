import { Effect, FiberSet, Latch, Option } from "effect"
import { logFailure, POLL, retryForever } from "./retryForever.ts"

/** Maximum wait for more finished leases before a claim, which costs hardly more for many leases than for few. */
const DEBOUNCE_MS = 250

/**
 * Claims leases and handles each in a separate fiber, at most `concurrency()` at a time. Claims again when as many as half of the slots were freed,
 * 250 ms after the first, or after a notification.
 *
 * When interrupted, it stops claiming, runs `onStop`, and waits up to `drainSeconds` for leases in flight. Leases that fail or
 * don't finish expire.
 */
export const claimLoop = Effect.fnUntraced(function* <Lease, R1, R2>(
  name: string,
  options: {
    readonly concurrency: () => number
    readonly drainSeconds: number
    readonly onStop?: Effect.Effect<void>
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Lease>, never, R1>
    readonly handle: (lease: Lease) => Effect.Effect<unknown, never, R2>
    /** Returns the milliseconds until the next claim that may find work without a notification; default 0. */
    readonly untilDue?: Effect.Effect<number, never, R1>
    /** Calls its argument whenever there may be new work. Without it, the loop only polls. */
    readonly listen?: (wake: Effect.Effect<void>) => Effect.Effect<never>
  },
) {
  const {
    concurrency,
    drainSeconds,
    claim,
    untilDue = Effect.succeed(0),
    handle,
    listen,
    onStop = Effect.void,
  } = options
  const fibers = yield* FiberSet.make()
  // Open when enough leases finished for a claim, or when there may be new work.
  const wakeUp = yield* Latch.make()
  let inFlight = 0
  /** Slots freed since the last claim, the number to wait for, and half of the slots at that claim. */
  let freed = 0
  let enough = 1
  let half = 1
  let isNotified = true
  /** Doubles with each empty claim. */
  let pause = POLL.minMs

  yield* Effect.addFinalizer(() =>
    Effect.andThen(onStop, FiberSet.awaitEmpty(fibers)).pipe(
      Effect.interruptible,
      Effect.timeoutOption(drainSeconds * 1000),
    ),
  )

  const availableSlots = () => concurrency() - inFlight
  const isWorthwhile = () => availableSlots() > 0 && (isNotified || freed >= enough)
  const forkHandler = (lease: Lease) => {
    inFlight += 1
    return Effect.suspend(() => handle(lease)).pipe(
      Effect.catchCause((cause) => logFailure(`${name} failed to handle a lease`, cause)),
      Effect.ensuring(
        Effect.sync(() => {
          inFlight -= 1
          freed += 1
          if (isWorthwhile()) wakeUp.openUnsafe()
        }),
      ),
      FiberSet.run(fibers),
    )
  }

  const claimOnce = Effect.gen(function* () {
    enough = half
    wakeUp.closeUnsafe()
    if (!isWorthwhile()) yield* Effect.timeoutOption(wakeUp.await, DEBOUNCE_MS)
    isNotified = false
    const slots = availableSlots()
    if (slots <= 0) return
    freed = 0
    enough = 1
    half = Math.ceil((inFlight + slots) / 2)
    wakeUp.closeUnsafe()
    const leases = yield* claim(slots)
    yield* Effect.forEach(leases, forkHandler, { discard: true })
    if (leases.length === slots) return
    pause = leases.length > 0 ? POLL.minMs : Math.min(pause * 2, POLL.maxMs)
    const waitMs = leases.length > 0 ? pause : Math.max(pause, yield* untilDue)
    // A finished lease may have freed a slot of its endpoint.
    const stir = yield* Effect.timeoutOption(wakeUp.await, waitMs)
    if (Option.isNone(stir)) isNotified = true
  })

  const hint = Effect.sync(() => {
    isNotified = true
    wakeUp.openUnsafe()
  })
  if (listen) yield* Effect.forkScoped(retryForever(`${name}: listening`, listen(hint)))
  return yield* retryForever(name, claimOnce)
}, Effect.scoped)
