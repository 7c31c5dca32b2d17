import { type Duration, Effect, type Exit, Fiber, type Scope } from "effect"

/**
 * Runs an effect in a fiber of its own, and returns its exit; undefined if it takes longer.
 *
 * The interruption of a statement waits for the server's response. Nobody waits for it here, because the server may be mute.
 */
export const withinLimit = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  limit: Duration.Input,
  scope: Scope.Scope,
): Effect.fn.Return<Exit.Exit<A, E> | undefined, never, R> {
  const fiber = yield* Effect.forkIn(effect, scope)
  return yield* Fiber.await(fiber).pipe(
    Effect.timeoutOrElse({ duration: limit, orElse: () => Effect.undefined }),
    Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe())),
  )
})
