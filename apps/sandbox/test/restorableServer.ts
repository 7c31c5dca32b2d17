import { execFile } from "node:child_process"
import { chmod, mkdir } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { temporaryRoot } from "@outreach/embedded-postgres/paths"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { takeBaseBackup } from "@outreach/embedded-postgres/startStandby"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { eventually } from "@outreach/testing/until"
import type { Client } from "pg"

/** A PostgreSQL that archives its WAL below a folder, and that can be restored to any time after a base backup, on another port. */
export const restorableServer = async (folder: string) => {
  const archive = join(folder, "archive")
  const base = join(folder, "base")
  await mkdir(archive)
  // The server may run as another user.
  await chmod(folder, 0o755)
  await chmod(archive, 0o777)
  let server = await startPostgres({
    settings: { wal_level: "replica", archive_mode: "on", archive_command: `cp %p ${archive}/%f` },
  })
  const onServer = <A>(work: (client: Client) => Promise<A>) => withClient(server.url, work)

  return {
    get url() {
      return server.url
    },

    /** Takes the base backup during writes. */
    takeBaseBackup: () => takeBaseBackup(server, base, "drill"),

    /** Waits until everything written so far is archived. */
    archiveAll: () =>
      onServer(async (client) => {
        const { rows } = await client.query<{ file: string }>("select pg_walfile_name(pg_switch_wal()) as file")
        await eventually(
          async () => (await client.query("select last_archived_wal as file from pg_stat_archiver")).rows[0]!.file,
          (archived) => archived >= rows[0]!.file,
        )
      }),

    destroy: async () => {
      await server.kill()
      await server.stop()
    },

    /** Restores the base backup, and replays the archive up to a time. */
    restoreTo: async (time: string) => {
      const copy = join(await temporaryRoot(), `outreach-postgres-restore-${process.pid}`)
      await promisify(execFile)("cp", ["-a", base, copy])
      server = await startPostgres({
        base: copy,
        files: { "recovery.signal": "" },
        settings: {
          restore_command: `cp ${archive}/%f %p`,
          // The configuration doesn't accept Z as a time zone.
          recovery_target_time: time.replace("Z", "+00"),
          recovery_target_action: "promote",
        },
      })
      await onServer((client) =>
        eventually(
          async () => (await client.query("select pg_is_in_recovery() as recovering")).rows[0]!.recovering,
          (recovering) => !recovering,
        ),
      )
    },

    stop: () => server.stop(),
  }
}
