import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { migrate } from "@outreach/postgres/migrate"
import { Effect } from "effect"
import { testDatabaseLayer } from "./testDatabaseLayer.ts"

/** Gives a test file a database of its own with the newest schema; see `testDatabase`. */
export const migratedDatabase = (): (() => string) =>
  testDatabase({
    name: "outreach",
    sources: [new URL("../sql", import.meta.resolve("@outreach/postgres/migrate"))],
    migrate: async (url) => {
      await Effect.runPromise(Effect.provide(migrate, testDatabaseLayer(url)))
    },
  })
