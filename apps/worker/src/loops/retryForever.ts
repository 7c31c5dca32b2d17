import { Effect, Exit } from "effect"
import { workerLimits } from "../workerLimits.ts"
import { logFailure } from "./logFailure.ts"

/**
 * Repeats a step until interrupted; the step itself waits when there is nothing to do.
 *
 * Whatever goes wrong is logged, and the step is tried again after a wait that grows with each failure in a row.
 */
export const retryForever = Effect.fnUntraced(function* <E, R>(
  name: string,
  step: Effect.Effect<unknown, E, R>,
): Effect.fn.Return<never, never, R> {
  const { minMs, maxMs } = workerLimits.backoff
  let wait: number = minMs
  while (true) {
    const exit = yield* Effect.exit(step)
    if (Exit.isSuccess(exit)) {
      wait = minMs
    } else {
      yield* logFailure(`${name} failed`, exit.cause)
      yield* Effect.sleep(wait)
      wait = Math.min(wait * 2, maxMs)
    }
  }
})
