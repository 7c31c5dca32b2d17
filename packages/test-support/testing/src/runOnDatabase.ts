import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { Effect, Layer } from "effect"
import { beforeAll } from "vitest"
import { adaptersFor, testDatabaseLayer } from "./adaptersFor.ts"
import { effectTest, type Run, runWith } from "./runWith.ts"
import { migrateWithRoles } from "./testRoles.ts"

/** All adapters and the database. */
export type Services = Layer.Success<ReturnType<typeof adaptersFor>>

/** Returns a function that runs an effect with all adapters on a database of the test file. */
export const runOnDatabase = <Others = never>(
  options: {
    /** The database. Default: one that `migratedDatabase` creates. */
    readonly url?: () => string
    readonly maxConnections?: number
    /** Additional services on the same adapters. */
    readonly layer?: Layer.Layer<Others, never, Services>
  } = {},
): Run<Services | Others> => {
  const { layer = Layer.empty as Layer.Layer<never> as Layer.Layer<Others>, url = migratedDatabase() } = options
  return runWith(() => Layer.provideMerge(layer, adaptersFor(url(), options)))
}

/** Returns `runOnDatabase`'s function, and one that runs a test's body with it (`effectTest`). */
export const testsOnDatabase = <Others = never>(options: Parameters<typeof runOnDatabase<Others>>[0] = {}) => {
  const run = runOnDatabase(options)
  return { run, test: effectTest(run) }
}

/** Creates a database with the newest schema for a test file (`testDatabase`). */
export const migratedDatabase = (): (() => string) => {
  const url = testDatabase({
    name: "outreach",
    migrate: async (url) => {
      await Effect.runPromise(Effect.provide(migrateWithRoles, testDatabaseLayer(url)))
    },
  })
  // The template's last belief in its clock may be too old.
  beforeAll(() => withClient(url(), (client) => client.query("update clock_watch set believed_at = clock_timestamp()")))
  return url
}
