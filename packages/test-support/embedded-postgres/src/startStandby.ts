import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chmod, chown, mkdir, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { promisify } from "node:util"
import { temporaryRoot } from "./paths.ts"
import { type Postgres, startPostgres } from "./startPostgres.ts"
import type { StartOptions } from "./supervisor.ts"
import { withClient } from "./withClient.ts"

export interface StandbyOptions extends Pick<StartOptions, "settings" | "environment"> {
  /** The `application_name` of its replication, for `synchronous_standby_names` of the primary. */
  readonly name: string
  /** The host and port from which it replicates, such as those of a proxy. Default: the primary's. */
  readonly replicateFrom?: string
}

/** A server that replicates another until it is promoted. */
export interface Standby extends Postgres {
  /** Ends the replication, and returns once the server takes writes. */
  readonly promote: () => Promise<void>
}

/**
 * Starts a standby of a server of this machine from a new base backup. It is temporary, like a server without
 * `dataDirectory`.
 *
 * The binaries come without `pg_basebackup`, so the base backup is made by the functions that `pg_basebackup` uses.
 */
export async function startStandby(
  primary: Pick<Postgres, "url" | "port" | "dataDirectory">,
  { name, replicateFrom = new URL(primary.url).host, ...options }: StandbyOptions,
): Promise<Standby> {
  const { password } = new URL(primary.url)
  const slot = `standby_${randomUUID().replaceAll("-", "_")}`
  const base = join(await temporaryRoot(), `outreach-postgres-base-${randomUUID()}`)
  try {
    await takeBaseBackup(primary, base, slot)
    const [host, port] = replicateFrom.split(":")
    const source = `host=${host} port=${port} user=postgres password=${password} application_name=${name}`
    const standby = await startPostgres({
      ...options,
      base,
      settings: {
        primary_conninfo: source,
        primary_slot_name: slot,
        wal_retrieve_retry_interval: "200ms",
        ...options.settings,
      },
      files: { "standby.signal": "" },
    })
    return { ...standby, promote: () => promote(standby.url) }
  } finally {
    await rm(base, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Copies a server's data, while others write to it, and its password into a new folder. The slot keeps the WAL that the copy needs. */
export async function takeBaseBackup(
  primary: Pick<Postgres, "url" | "dataDirectory">,
  folder: string,
  slot: string,
): Promise<void> {
  const data = join(folder, "data")
  await mkdir(folder)
  await chmod(folder, 0o711)
  await writeFile(join(folder, "password"), new URL(primary.url).password, { mode: 0o600 })
  await withClient(primary.url, async (client) => {
    await client.query("select pg_create_physical_replication_slot($1, true)", [slot])
    await client.query("select pg_backup_start('standby', true)")
    // A file may disappear while it is copied. The WAL has its content.
    await promisify(execFile)("cp", ["-a", primary.dataDirectory, data]).catch((error: { stderr: string }) => {
      if (!error.stderr.split("\n").every((line) => line === "" || /No such file/.test(line))) throw error
    })
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop()")
    await writeFile(join(data, "backup_label"), rows[0]!.labelfile, { mode: 0o600 })
  })
  // The slots are the primary's: here they would keep WAL that no standby reads.
  await promisify(execFile)("find", [join(data, "pg_replslot"), "-mindepth", "1", "-delete"])
  // `postgresql.auto.conf` has the settings of `alter system`: the primary's synchronous standbys.
  const notCopied = ["postmaster.pid", "postmaster.opts", "postgresql.auto.conf", "server.log"]
  await Promise.all(notCopied.map((name) => rm(join(data, name), { force: true })))
  const { uid, gid } = await stat(data)
  await chown(join(data, "backup_label"), uid, gid)
}

async function promote(url: string): Promise<void> {
  await withClient(url, async (client) => {
    // A statement that waits for the end of recovery would block the remaining replay.
    await client.query("select pg_promote(false)")
    const deadline = Date.now() + 60_000
    while ((await client.query("select where pg_is_in_recovery()")).rowCount !== 0) {
      if (Date.now() > deadline) throw new Error("The standby was not promoted within 60 s.")
      await delay(20)
    }
  })
}
