import { rm } from "node:fs/promises"
import { join } from "node:path"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { whyNoPostgres } from "@outreach/embedded-postgres/whyNoPostgres"
import { databaseAt } from "@outreach/postgres-connection/databaseLayer"
import { databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { ConfigProvider, Effect } from "effect"
import type { Options } from "./options.ts"
import { SandboxError } from "./SandboxError.ts"

/**
 * Returns the URL of `DATABASE_URL`. Without it, starts a PostgreSQL until the scope closes, with its data in the folder.
 *
 * The name, unlike the URL, is the same in each run and holds no password.
 */
export const openDatabase = Effect.fnUntraced(function* ({ folder, fresh }: Options) {
  const configured = process.env["DATABASE_URL"]
  if (configured) {
    if (fresh)
      return yield* new SandboxError({ message: "--fresh would drop the database of DATABASE_URL. Empty it manually." })
    const settings = yield* databaseSettings.parse(ConfigProvider.fromUnknown({ DATABASE_URL: configured }))
    const { host, pathname } = new URL(configured)
    return { url: configured, settings, name: `the database ${host}${pathname}` }
  }
  const missing = whyNoPostgres()
  if (missing !== undefined) return yield* new SandboxError({ message: missing })
  if (fresh) yield* Effect.promise(() => rm(join(folder, "keys.json"), { force: true }))
  const { url } = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => startPostgres({ dataDirectory: join(folder, "postgres"), fresh }),
      catch: (error) => new SandboxError({ message: (error as Error).message }),
    }),
    (server) => Effect.promise(() => server.stop()),
  )
  return { url, settings: databaseAt(url), name: "a PostgreSQL of its own" }
})
