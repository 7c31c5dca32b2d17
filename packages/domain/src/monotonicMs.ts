import { Clock, Effect } from "effect"

/** Returns monotonic milliseconds: waits and durations that use them don't change when the machine's clock is set. */
export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

/** The same as an effect. */
export const readMonotonicMs: Effect.Effect<number> = Clock.clockWith((clock) => Effect.sync(() => monotonicMs(clock)))
