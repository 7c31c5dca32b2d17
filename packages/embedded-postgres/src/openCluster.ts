import { createHash, randomBytes } from "node:crypto"
import { chown, lstat, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { binaries } from "./binaries.ts"
import { claim } from "./claim.ts"
import type { Task } from "./keeper.ts"
import { isOwn, isReachable, keptRoot, serverUser, temporaryRoot } from "./place.ts"
import { isRunning, processToken } from "./processToken.ts"
import { initialise, type Server, type Settings, start, stop } from "./server.ts"

/** A running server, as the keeper holds it. */
export interface Cluster {
  readonly url: string
  readonly port: number
  readonly close: () => Promise<void>
}

const always: Settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  timezone: "UTC",
  log_timezone: "UTC",
}

const forgetful: Settings = { ...always, fsync: "off", synchronous_commit: "off", full_page_writes: "off" }

/** How the folders of temporary clusters begin; their keeper's token follows. */
const prefix = "outreach-postgres-run-"

/**
 * Opens the cluster that lives in a folder for good. When the server's user cannot reach the folder, the data alone
 * lies elsewhere, under a name made from the folder's; deleting the folder still starts over, because the password
 * that goes with the data stays in it.
 *
 * `parent` is the token of the process that this one works for; `fresh` drops the data.
 */
export async function openKept(
  wanted: string,
  { fresh, port, parent }: Pick<Task, "fresh" | "port" | "parent">,
): Promise<Cluster> {
  const user = serverUser()
  await mkdir(wanted, { recursive: true })
  const folder = await realpath(wanted)
  const release = await claim(folder, parent)
  try {
    const data = (await isReachable(folder, user))
      ? join(folder, "data")
      : join(await keptRoot(user), `data-${createHash("sha256").update(folder).digest("hex").slice(0, 24)}`)
    const server = { bin: await binaries(user), user, data }
    await stop(server, "fast")
    const passwordFile = join(folder, "password")
    if (fresh) await rm(passwordFile, { force: true })
    const opened = await open(server, passwordFile, port, always)
    const close = async () => {
      await stop(server, "fast")
      await release()
    }
    return { ...opened, close }
  } catch (error) {
    await release()
    throw error
  }
}

/**
 * Opens a cluster that ends with this process, after clearing away those whose keeper is dead. Its folder is named for
 * its keeper, so that it never stands without an owner.
 */
export async function openTemporary(port: number | undefined): Promise<Cluster> {
  const user = serverUser()
  const root = await temporaryRoot(user)
  const bin = await binaries(user)
  await sweep(root, bin)
  const folder = join(root, `${prefix}${await processToken(process.pid)}`)
  const server = { bin, user, data: join(folder, "data") }
  const close = async () => {
    await stop(server, "immediate")
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await mkdir(folder, { mode: 0o711 })
    return { ...(await open(server, join(folder, "password"), port, forgetful)), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Stops and removes the temporary clusters of dead keepers. */
async function sweep(root: string, bin: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(prefix)) continue
    const folder = join(root, name)
    const [keeper = ""] = name.slice(prefix.length).split("-")
    const found = await lstat(folder).catch(() => undefined)
    // Anyone may make folders here: another user's is not ours to touch.
    if (!found?.isDirectory() || !isOwn(found) || (await isRunning(keeper))) continue
    await stop({ bin, user: serverUser(), data: join(folder, "data") }, "immediate")
    // Of several who sweep at once, the one that renames removes.
    const own = join(root, `${prefix}${await processToken(process.pid)}-swept-${keeper}`)
    const won = await rename(folder, own).then(
      () => true,
      () => false,
    )
    if (won) await rm(own, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Starts the server, on a new cluster unless a finished one is there. The password, written last, says finished. */
async function open(
  server: Server,
  passwordFile: string,
  wanted: number | undefined,
  settings: Settings,
): Promise<{ url: string; port: number }> {
  const { data, user } = server
  const version = await stat(join(data, "PG_VERSION")).catch(() => undefined)
  let password = version && (await readFile(passwordFile, "utf8").catch(() => undefined))
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
  const port = await start(server, wanted, settings)
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, port }
}
