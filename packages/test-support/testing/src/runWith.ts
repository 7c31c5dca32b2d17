import { Effect, Layer, ManagedRuntime, References, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, it } from "vitest"

/** Runs an effect, or the effect of a generator function, with services. */
export interface Run<Services> {
  <A, Eff extends Effect.Effect<unknown, unknown, Services>>(body: () => Generator<Eff, A, never>): Promise<A>
  <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A>
}

/**
 * Returns a function that runs effects with a layer, such as `adaptersFor`. The layer is built once for a test file, when the first test needs it,
 * and released after the tests: a connection for each test would plan each statement again.
 */
export const runWith = <Services, E>(layer: () => Layer.Layer<Services, E>): Run<Services> => {
  let runtime: ManagedRuntime.ManagedRuntime<Services, E> | undefined
  afterAll(() => runtime?.dispose())
  return <A>(
    work: Effect.Effect<A, unknown, Services> | (() => Generator<Effect.Effect<unknown, unknown, Services>, A, never>),
  ) => {
    runtime ??= ManagedRuntime.make(Layer.provideMerge(layer(), Layer.succeed(References.MinimumLogLevel, "Warn")))
    return runtime.runPromise(Effect.isEffect(work) ? work : Effect.gen(work))
  }
}

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
