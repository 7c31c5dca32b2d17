import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { sql } from "@outreach/testing/sql"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { Effect } from "effect"

/** A separate migrated PostgreSQL that can be killed without losing a commit. */
export const killableDatabase = async () => {
  const server = await startPostgres({ settings: { synchronous_commit: "on" } })
  await Effect.runPromise(Effect.provide(migrateWithRoles, testDatabaseLayer(server.url)))
  return {
    url: server.url,
    /** Kills a worker's backend with SIGKILL: the server disconnects all clients and recovers. */
    killBackend: Effect.gen(function* () {
      const [backend] = yield* sql<{ pid: number }>`
        select pid from pg_stat_activity where application_name like 'outreach-worker%' order by random() limit 1`
      if (backend !== undefined) process.kill(backend.pid, "SIGKILL")
    }),
    /** Kills the server without a checkpoint, and starts it again. */
    restart: async () => {
      await server.kill()
      await server.restart()
    },
    remove: server.stop,
  }
}
