import { type Duration, Effect, type Exit, Fiber } from "effect"

/**
 * Runs an effect in a fiber of its own, and returns its exit; undefined if it takes longer.
 *
 * The interruption of a statement waits for the server's response. Nobody waits for it here, because the server may be mute.
 * The fiber belongs to no scope, because requests are still answered while the scope of the process closes.
 */
export const withinLimit = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  limit: Duration.Input,
): Effect.fn.Return<Exit.Exit<A, E> | undefined, never, R> {
  const fiber = yield* Effect.forkDetach(effect)
  return yield* Fiber.await(fiber).pipe(
    Effect.timeoutOrElse({ duration: limit, orElse: () => Effect.undefined }),
    Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe())),
  )
})
