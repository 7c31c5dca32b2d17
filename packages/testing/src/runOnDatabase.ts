import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Effect, Layer, ManagedRuntime, References } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import { adaptersFor, testDatabaseLayer } from "./adaptersFor.ts"
import { migrateWithRoles } from "./testRoles.ts"

type Services = Layer.Success<ReturnType<typeof adaptersFor>>

/** Gives a test file a database of its own, and returns a function that runs an effect on it with all adapters. */
export const runOnDatabase = <Others = never>(
  options: {
    readonly maxConnections?: number
    /** Other services over the same adapters. */
    readonly layer?: Layer.Layer<Others, never, Services>
  } = {},
): (<A, E>(effect: Effect.Effect<A, E, Services | Others>) => Promise<A>) => {
  const { layer = Layer.empty as Layer.Layer<never> as Layer.Layer<Others> } = options
  const url = migratedDatabase()
  let runtime: ManagedRuntime.ManagedRuntime<Services | Others, unknown>
  beforeAll(() => {
    runtime = ManagedRuntime.make(
      layer.pipe(
        Layer.provideMerge(adaptersFor(url(), options)),
        Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Warn")),
      ),
    )
  })
  afterAll(() => runtime.dispose())
  return (effect) => runtime.runPromise(effect)
}

/** Gives a test file a database of its own with the newest schema; see `testDatabase`. */
export const migratedDatabase = (): (() => string) => {
  const url = testDatabase({
    name: "outreach",
    sources: [
      new URL("../sql", import.meta.resolve("@outreach/postgres/migrate")),
      new URL(import.meta.resolve("@outreach/postgres/roles/grants")),
    ],
    migrate: async (url) => {
      await Effect.runPromise(Effect.provide(migrateWithRoles, testDatabaseLayer(url)))
    },
  })
  // The template may be older than the time for which its clock is believed.
  beforeAll(() =>
    Effect.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`update clock_watch set believed_at = clock_timestamp()`).pipe(
        Effect.provide(testDatabaseLayer(url())),
      ),
    ),
  )
  return url
}
