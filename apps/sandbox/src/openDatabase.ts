import { rm } from "node:fs/promises"
import { join } from "node:path"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { Effect } from "effect"
import type { Options } from "./options.ts"
import { SandboxError } from "./SandboxError.ts"

/** Answers the address of `DATABASE_URL`, or starts a PostgreSQL of the sandbox's own, until the scope closes, with its data in the folder. */
export const openDatabase = Effect.fnUntraced(function* ({ folder, fresh }: Options) {
  const given = process.env["DATABASE_URL"]
  if (given) {
    if (fresh)
      return yield* new SandboxError({ message: "--fresh would drop the database of DATABASE_URL: empty it yourself." })
    return given
  }
  if (fresh) {
    yield* Effect.promise(async () => {
      await rm(join(folder, "postgres"), { recursive: true, force: true })
      await rm(join(folder, "keys.json"), { force: true })
    })
  }
  const postgres = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => startPostgres({ dataDirectory: join(folder, "postgres") }),
      catch: (error) => new SandboxError({ message: (error as Error).message }),
    }),
    (server) => Effect.promise(() => server.stop()),
  )
  return postgres.url
})
