import { execFile } from "node:child_process"
import { chmod, chown, copyFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { eventually } from "@outreach/testing/eventually"

const run = promisify(execFile)

/**
 * A PostgreSQL that archives its WAL below a folder, and that can be restored to any time after a base backup. Restored, it has the same address.
 *
 * The binaries of the embedded server come without `pg_basebackup`, so the base backup is made by the functions that it uses.
 */
export const restorableServer = async (folder: string) => {
  const archive = join(folder, "archive")
  const base = join(folder, "base")
  await mkdir(archive)
  // The server's user is another when this process is root's.
  await chmod(folder, 0o755)
  await chmod(archive, 0o777)
  let number = 0
  const createDirectory = async () => {
    const path = join(folder, `server-${++number}`)
    await mkdir(path)
    await chmod(path, 0o755)
    return path
  }
  let directory = await createDirectory()
  let server = await startPostgres({
    dataDirectory: directory,
    settings: { wal_level: "replica", archive_mode: "on", archive_command: `cp %p ${archive}/%f` },
  })
  const { url, port } = server

  return {
    url,

    /** Takes the base backup, while the server is written to. */
    takeBaseBackup: () =>
      withClient(url, async (client) => {
        await client.query("select pg_backup_start('drill', true)")
        // A file may vanish while it is copied; the WAL knows what was in it.
        await run("cp", ["-a", join(directory, "data"), base]).catch((error: { stderr: string }) => {
          if (!error.stderr.split("\n").every((line) => line === "" || /No such file/.test(line))) throw error
        })
        const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop()")
        await writeFile(join(base, "backup_label"), rows[0]!.labelfile)
        await Promise.all(
          ["postmaster.pid", "postmaster.opts", "pg_wal"].map((name) => rm(join(base, name), { recursive: true })),
        )
        await mkdir(join(base, "pg_wal"), { mode: 0o700 })
      }),

    /** Waits until everything that was written so far is in the archive. */
    archiveAll: () =>
      withClient(url, async (client) => {
        const { rows } = await client.query<{ file: string }>("select pg_walfile_name(pg_switch_wal()) as file")
        await eventually(
          async () => (await client.query("select last_archived_wal as file from pg_stat_archiver")).rows[0]!.file,
          (archived) => archived >= rows[0]!.file,
        )
      }),

    /** Ends the server without a checkpoint, and removes its data. */
    destroy: async () => {
      const data = join(directory, "data")
      process.kill(Number.parseInt(await readFile(join(data, "postmaster.pid"), "utf8"), 10), "SIGQUIT")
      await server.stop()
      await copyFile(join(directory, "password"), join(folder, "password"))
      await rm(data, { recursive: true, force: true, maxRetries: 10 })
    },

    /** Restores the base backup, and replays the archive up to a time. */
    restoreTo: async (time: string) => {
      directory = await createDirectory()
      const data = join(directory, "data")
      await run("cp", ["-a", base, data])
      await copyFile(join(folder, "password"), join(directory, "password"))
      const { uid, gid } = await stat(join(data, "PG_VERSION"))
      for (const name of ["backup_label", "recovery.signal", "pg_wal"]) {
        if (name === "recovery.signal") await writeFile(join(data, name), "")
        await chown(join(data, name), uid, gid)
      }
      server = await startPostgres({
        dataDirectory: directory,
        port,
        settings: {
          restore_command: `cp ${archive}/%f %p`,
          // The configuration knows no letter for a zone.
          recovery_target_time: time.replace("Z", "+00"),
          recovery_target_action: "promote",
        },
      })
      await withClient(url, (client) =>
        eventually(
          async () => (await client.query("select pg_is_in_recovery() as recovering")).rows[0]!.recovering,
          (recovering) => !recovering,
        ),
      )
    },

    stop: () => server.stop(),
  }
}
