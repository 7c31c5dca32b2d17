import { Effect, Exit } from "effect"
import { logFailure } from "./logFailure.ts"
import { workerLimits } from "./workerLimits.ts"

/**
 * Repeats a step until interrupted; the step itself waits when there is nothing to do.
 *
 * Whatever goes wrong is logged, and the step is tried again after a wait that grows with each failure in a row.
 */
export const persist = Effect.fnUntraced(function* <E, R>(
  name: string,
  step: Effect.Effect<unknown, E, R>,
): Effect.fn.Return<never, never, R> {
  const { shortestMs, longestMs } = workerLimits.backoff
  let wait: number = shortestMs
  while (true) {
    const exit = yield* Effect.exit(step)
    if (Exit.isSuccess(exit)) {
      wait = shortestMs
    } else {
      yield* logFailure(`${name} failed`, exit.cause)
      yield* Effect.sleep(wait)
      wait = Math.min(wait * 2, longestMs)
    }
  }
})
