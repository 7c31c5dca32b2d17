import { afterAll, beforeAll } from "vitest"
import { postgresUrl } from "./postgresUrl.ts"
import { type Clone, cloneDatabase, createTemplate } from "./templateDatabase.ts"

export interface TestSchema {
  /** Name of the template, unique in the repository. */
  readonly name: string
  /** Migrates an empty database to the schema, and closes every connection that it opened. */
  readonly migrate: (url: string) => Promise<void>
}

/**
 * Gives a test file its own migrated database, cloned before its tests and dropped after them. The file fails if it leaves
 * a connection open. The project's `globalSetup` must name `@outreach/embedded-postgres/vitestServer`.
 *
 * @returns a function that returns the database's address inside tests and hooks
 */
export function testDatabase({ name, migrate }: TestSchema): () => string {
  let clone: Clone | undefined
  beforeAll(async () => {
    const server = await postgresUrl()
    await createTemplate(server, name, migrate)
    clone = await cloneDatabase(server, name)
  }, 60_000)
  afterAll(async () => {
    await clone?.drop()
  }, 60_000)
  return () => {
    if (!clone) throw new Error("The test database is available only inside tests and hooks.")
    return clone.url
  }
}
