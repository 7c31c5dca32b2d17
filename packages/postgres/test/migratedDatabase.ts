import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Effect, Redacted } from "effect"
import { databaseLayer } from "../src/databaseLayer.ts"
import { migrate } from "../src/migrate.ts"

/** Gives a test file a database of its own with the newest schema; see `testDatabase`. */
export const migratedDatabase = (): (() => string) =>
  testDatabase({
    name: "outreach",
    sources: [new URL("../sql", import.meta.url)],
    migrate: async (url) => {
      await Effect.runPromise(
        Effect.provide(migrate, databaseLayer({ url: Redacted.make(url), applicationName: "migrate" })),
      )
    },
  })
