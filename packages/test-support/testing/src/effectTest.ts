import { Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { it } from "vitest"

/** Returns a function that registers a test with an effect as its body, written as a generator and run by `run` in its own scope. */
export const effectTest =
  <Run extends (effect: never) => Promise<unknown>>(run: Run) =>
  <Eff extends Effect.Effect<unknown, unknown, Effect.Services<Parameters<Run>[0]> | Scope.Scope>>(
    title: string,
    body: () => Generator<Eff, void, never>,
  ): void =>
    it(title, () => run(Effect.scoped(Effect.gen(body)) as never).then(() => {}))

/** Registers a test with an effect as its body, on a clock that only the test moves. */
export const clockTest = effectTest(<A>(effect: Effect.Effect<A>) =>
  Effect.runPromise(Effect.provide(effect, TestClock.layer())),
)
