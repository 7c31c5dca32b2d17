import { constants, type Stats } from "node:fs"
import { access, chmod, lstat, mkdir, realpath, stat, statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** Returns the user that runs the server: `nobody` if this process runs as root, because PostgreSQL doesn't start as root. Undefined: this process's user. */
export function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  return process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined
}

/** Reports whether the server's user can enter every folder down to `path`, which must exist. */
export async function isReachable(path: string): Promise<boolean> {
  const user = serverUser()
  if (user === undefined) return true
  for (let at = await realpath(path); ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at)
    const mayPass = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & mayPass) === 0) return false
    if (at === dirname(at)) return true
  }
}

/** Linux's folder in memory, and the free bytes it needs: ten times the need of a test run. */
const MEMORY = { folder: "/dev/shm", bytes: 2 * 2 ** 30 }

/** Returns the folder for temporary clusters: the first that the server's user can reach, or one in memory if requested and large enough. */
export async function temporaryRoot({ inMemory = false } = {}): Promise<string> {
  const first = inMemory && (await hasRoomInMemory()) ? [MEMORY.folder] : []
  return await firstOpen([...first, tmpdir(), "/tmp", "/var/tmp"])
}

async function hasRoomInMemory(): Promise<boolean> {
  const free = await statfs(MEMORY.folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  // A container may have less memory than its machine.
  return Math.min(free, process.availableMemory() / 2) >= MEMORY.bytes
}

/** Returns this user's folder for files that outlive a run but can't be in the clone. Creates it if it is missing. */
export async function persistentRoot(): Promise<string> {
  const root = await firstOpen(["/var/tmp", tmpdir(), "/tmp"])
  return await ownFolder(join(root, `outreach-postgres-${process.getuid?.()}`))
}

/**
 * Creates a folder that every user may enter, unless it exists. An existing folder must belong to this user, and no other
 * user may be able to write to it.
 */
export async function ownFolder(path: string): Promise<string> {
  try {
    await mkdir(path)
    await chmod(path, 0o711)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  const stats = await lstat(path)
  if (!stats.isDirectory() || !isOwn(stats) || (stats.mode & 0o022) !== 0) {
    throw new Error(`${path} belongs to another user or can be written by others; remove it.`)
  }
  return path
}

export function isOwn(file: Stats): boolean {
  return file.uid === process.getuid?.()
}

async function firstOpen(candidates: readonly string[]): Promise<string> {
  for (const candidate of candidates) {
    try {
      await access(candidate, constants.W_OK)
      if (await isReachable(candidate)) return await realpath(candidate)
    } catch {}
  }
  throw new Error(`None of ${candidates.join(", ")} can be written and is open to the server's user.`)
}
