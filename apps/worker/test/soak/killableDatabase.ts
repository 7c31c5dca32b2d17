import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { migrate } from "@outreach/postgres/migrate"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A separate migrated PostgreSQL with durable commits that can be killed. */
export const killableDatabase = async () => {
  const folder = await mkdtemp(join(tmpdir(), "outreach-soak-"))
  // If this process is root, the server runs as another user.
  await chmod(folder, 0o711)
  let server = await startPostgres({ dataDirectory: folder })
  const { url, port } = server
  await Effect.runPromise(Effect.provide(migrate, adaptersFor(url)))
  const postmaster = async () => Number.parseInt(await readFile(join(folder, "data", "postmaster.pid"), "utf8"), 10)

  return {
    url,
    /** Kills a worker's backend with SIGKILL: the server disconnects all clients and recovers. */
    killBackend: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [backend] = yield* sql<{ pid: number }>`
        select pid from pg_stat_activity where application_name like 'outreach-worker%' order by random() limit 1`
      if (backend !== undefined) process.kill(backend.pid, "SIGKILL")
    }),
    /** Stops the server without a checkpoint, and starts it again. */
    restart: async () => {
      const pid = await postmaster()
      process.kill(pid, "SIGQUIT")
      while (isAlive(pid)) await setTimeout(20)
      await server.stop()
      server = await startPostgres({ dataDirectory: folder, port })
    },
    remove: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
