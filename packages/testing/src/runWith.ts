import { Layer, ManagedRuntime, References } from "effect"
import { afterAll } from "vitest"

/**
 * Returns a function that runs effects with a layer, such as `adaptersFor`. The layer is built once for a test file, when the first test needs it,
 * and released after the tests: a connection for each test would plan each statement again.
 */
export const runWith = <Services, E>(
  layer: () => Layer.Layer<Services, E>,
): ManagedRuntime.ManagedRuntime<Services, E>["runPromise"] => {
  let runtime: ManagedRuntime.ManagedRuntime<Services, E> | undefined
  afterAll(() => runtime?.dispose())
  return (effect, options) => {
    runtime ??= ManagedRuntime.make(Layer.provideMerge(layer(), Layer.succeed(References.MinimumLogLevel, "Warn")))
    return runtime.runPromise(effect, options)
  }
}
