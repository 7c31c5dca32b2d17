import { createHash, randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { chown, lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { lockDirectory } from "./lockDirectory.ts"
import { isOwn, isReachable, persistentRoot, serverUser, temporaryRoot } from "./paths.ts"
import { isRunning, processToken } from "./processToken.ts"
import { initialise, type Server, type Settings, start, stop } from "./server.ts"

// Each server has one supervisor process. Its standard input is a pipe from the parent, the process that requested the server.
// When the parent ends, by Ctrl-C, an exception or kill -9, the pipe closes and the supervisor stops the server.

export interface Cluster {
  readonly url: string
  readonly port: number
  readonly data: string
}

export interface StartOptions {
  /** A folder whose data outlives the server. Default: a temporary cluster. */
  readonly dataDirectory?: string
  /** Whether a temporary cluster is in memory, if that has 2 GB to spare. Default false. */
  readonly inMemory?: boolean
  /** Whether a temporary cluster writes to disk before it confirms, as every other one. Default false. */
  readonly durable?: boolean
  /** Whether to drop the data of `dataDirectory`. Default false. */
  readonly fresh?: boolean
  /** Settings of `postgresql.conf`, in addition to those of every server here. */
  readonly settings?: Settings
  /** Texts of files in the data directory: `pg_hba.conf`, or the certificate that a setting names. Default none. */
  readonly files?: Readonly<Record<string, string>>
  /** Variables of the server's environment, in addition to `PATH`, `LC_ALL` and `TZ`. Default none. */
  readonly environment?: Readonly<Record<string, string>>
  /** The folder of a base backup, for `startStandby`. A temporary cluster moves it and starts from it. */
  readonly base?: string
}

/** The supervisor's only argument, as JSON. */
export interface SupervisorInput extends StartOptions {
  /** The token of the process that requested the server. */
  readonly parent: string
}

/** The line of JSON that the supervisor prints once the server runs or has failed to start. */
export type SupervisorResult = Cluster | { readonly error: string }

const BASE_SETTINGS: Settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  timezone: "UTC",
  log_timezone: "UTC",
}

/** The settings of a temporary cluster that isn't durable. */
const UNSAFE_FAST: Settings = { ...BASE_SETTINGS, fsync: "off", synchronous_commit: "off", full_page_writes: "off" }

/** The name of a temporary cluster's folder is this prefix and the token of its supervisor. */
const RUN_PREFIX = "outreach-postgres-run-"

/**
 * Locks the folder of a persistent cluster. If the server's user cannot reach the folder, the data is in `persistentRoot`,
 * under a digest of the folder's path. The password always stays in the folder, so deleting the folder starts over.
 */
async function lockPersistent(dataDirectory: string, parent: string) {
  await mkdir(dataDirectory, { recursive: true })
  const folder = await realpath(dataDirectory)
  const release = await lockDirectory(folder, parent)
  const data = (await isReachable(folder))
    ? join(folder, "data")
    : join(await persistentRoot(), `data-${createHash("sha256").update(folder).digest("hex").slice(0, 24)}`)
  return { folder, data, defaults: BASE_SETTINGS, mode: "fast", release } as const
}

/**
 * Creates the folder of a cluster that ends with this process, after removing the clusters of dead supervisors. The folder's name
 * contains the supervisor's token, so each cluster has an owner from its start.
 */
async function createTemporary({ base, inMemory = false, durable = false }: StartOptions) {
  const root = await temporaryRoot({ inMemory })
  await removeStaleClusters(root)
  const folder = join(root, `${RUN_PREFIX}${await processToken(process.pid)}`)
  await (base === undefined ? mkdir(folder, { mode: 0o711 }) : rename(base, folder))
  const release = () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
  const defaults = durable ? BASE_SETTINGS : UNSAFE_FAST
  return { folder, data: join(folder, "data"), defaults, mode: "immediate", release } as const
}

/** Stops and removes the temporary clusters of dead supervisors. */
async function removeStaleClusters(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(RUN_PREFIX)) continue
    const folder = join(root, name)
    const [supervisor = ""] = name.slice(RUN_PREFIX.length).split("-")
    const found = await lstat(folder).catch(() => undefined)
    // Any user may create folders here. Only this user's are removed.
    if (!found?.isDirectory() || !isOwn(found) || (await isRunning(supervisor))) continue
    await stop({ data: join(folder, "data") }, "immediate")
    // Several processes may remove stale clusters at once. The process whose rename succeeds removes this one.
    const own = join(root, `${RUN_PREFIX}${await processToken(process.pid)}-swept-${supervisor}`)
    await rename(folder, own).catch(() => {})
    await rm(own, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Starts the server. Creates the cluster first unless the password file is there, which is written when the cluster is complete. */
async function open(
  server: Server,
  passwordFile: string,
  { settings = {}, files = {}, fresh = false }: StartOptions,
): Promise<Cluster> {
  const { data } = server
  const user = serverUser()
  const exists = !fresh && existsSync(join(data, "PG_VERSION"))
  let password = exists ? await readFile(passwordFile, "utf8").catch(() => undefined) : undefined
  if (password === undefined) {
    await rm(passwordFile, { force: true })
    await rm(data, { recursive: true, force: true })
    await mkdir(data, { mode: 0o700 })
    password = randomBytes(24).toString("base64url")
    const forInitdb = `${data}.password`
    await writeFile(forInitdb, password, { mode: 0o600 })
    if (user) await Promise.all([data, forInitdb].map((path) => chown(path, user.uid, user.gid)))
    await initialise(server, forInitdb, settings)
    await rm(forInitdb)
    await writeFile(`${passwordFile}.unfinished`, password, { mode: 0o600 })
    await rename(`${passwordFile}.unfinished`, passwordFile)
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(data, name), text, { mode: 0o600 })
    if (user) await chown(join(data, name), user.uid, user.gid)
  }
  const port = await start(server, settings)
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, port, data }
}

const stopRequested = new Promise<void>((resolve) => {
  process.stdin.on("end", resolve).on("error", resolve).resume()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve())
})
// The parent may be dead, and its end of the pipe closed.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

const printResult = (result: SupervisorResult) => process.stdout.write(`${JSON.stringify(result)}\n`)
try {
  const { parent, ...input } = JSON.parse(process.argv[2] ?? "") as SupervisorInput
  const { dataDirectory, environment = {}, settings } = input
  const { folder, data, defaults, mode, release } =
    dataDirectory === undefined ? await createTemporary(input) : await lockPersistent(dataDirectory, parent)
  const server = { data, environment }
  try {
    await stop(server, mode)
    printResult(await open(server, join(folder, "password"), { ...input, settings: { ...defaults, ...settings } }))
    await stopRequested
  } finally {
    await stop(server, mode).finally(release)
  }
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  printResult({ error: message })
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
process.stdin.destroy()
