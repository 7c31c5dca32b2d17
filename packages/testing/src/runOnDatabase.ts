import { type Effect, Layer, ManagedRuntime, References } from "effect"
import { afterAll, beforeAll } from "vitest"
import { adaptersFor } from "./adaptersFor.ts"
import { migratedDatabase } from "./migratedDatabase.ts"

type Services = Layer.Success<ReturnType<typeof adaptersFor>>

/** Gives a test file a database of its own, and returns a function that runs an effect on it with all adapters. */
export const runOnDatabase = (
  options: { readonly maxConnections?: number } = {},
): (<A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>) => {
  const url = migratedDatabase()
  let runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
  beforeAll(() => {
    runtime = ManagedRuntime.make(
      Layer.provideMerge(adaptersFor(url(), options), Layer.succeed(References.MinimumLogLevel, "Warn")),
    )
  })
  afterAll(() => runtime.dispose())
  return (effect) => runtime.runPromise(effect)
}
