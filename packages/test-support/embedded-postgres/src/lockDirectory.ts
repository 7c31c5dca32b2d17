import { randomUUID } from "node:crypto"
import { readlink, rename, symlink, unlink } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { isRunning, processToken } from "./processToken.ts"

const LOCK_TIMEOUT_MS = 20_000

/** A running process or the supervisor of its server has locked the folder. */
export class DirectoryInUse extends Error {
  override readonly name = "DirectoryInUse"
  readonly holder: number

  constructor(folder: string, holder: number, supervisor: number) {
    const by = supervisor === holder ? "" : ` (the supervisor of its server is process ${supervisor})`
    super(`${folder} is in use by process ${holder}${by}: stop that process first.`)
    this.holder = holder
  }
}

/**
 * Locks a folder for this process, or if this is a supervisor, for its process `parent`. Replaces the lock of a dead process.
 * If a supervisor lives but its parent is dead, it is shutting down, and this function waits for it.
 *
 * The lock is the symbolic link `claim`, because the file system creates a link atomically.
 *
 * @returns a function that releases the lock
 * @throws DirectoryInUse
 */
export async function lockDirectory(folder: string, parent?: string): Promise<() => Promise<void>> {
  const link = join(folder, "claim")
  const token = await processToken(process.pid)
  const own = `${token} for ${parent ?? token}`
  const deadline = Date.now() + LOCK_TIMEOUT_MS
  while (!(await createLink(own, link))) {
    const held = await readlink(link).catch(() => "")
    if (held === "") continue
    const [supervisor = "", holder = ""] = held.split(" for ")
    if (!(await isRunning(supervisor))) await removeStale(link, held)
    else if ((await isRunning(holder)) || Date.now() > deadline) {
      throw new DirectoryInUse(folder, Number.parseInt(holder, 10), Number.parseInt(supervisor, 10))
    } else await delay(100)
  }
  return async () => {
    if ((await readlink(link).catch(() => "")) === own) await unlink(link)
  }
}

async function createLink(target: string, path: string): Promise<boolean> {
  try {
    await symlink(target, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

/** Moves a stale lock aside and removes it. If another process has replaced the lock meanwhile, puts the new lock back. */
async function removeStale(link: string, stale: string): Promise<void> {
  const aside = `${link}.${randomUUID()}`
  try {
    await rename(link, aside)
  } catch {
    return
  }
  const moved = await readlink(aside)
  if (moved !== stale) await createLink(moved, link)
  await unlink(aside)
}
