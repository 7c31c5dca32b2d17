import { Clock, Effect, Layer } from "effect"

/** Creates a clock that a test sets. Sleeping takes real time. */
export const settableTime = (): { now: number; readonly layer: Layer.Layer<never> } => {
  const real = Effect.runSync(Clock.clockWith(Effect.succeed))
  const millis = () => time.now
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => BigInt(time.now) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(time.now) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration),
  }
  const time = { now: Date.now(), layer: Layer.succeed(Clock.Clock, clock) }
  return time
}
