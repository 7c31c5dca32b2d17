import { randomUUID } from "node:crypto"
import { readlink, rename, symlink, unlink } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { isRunning, processToken } from "./processToken.ts"

const patience = 20_000

/**
 * Takes a kept cluster's folder for this keeper, or throws an error that names the process which holds it. A claim
 * whose keeper is dead is taken over; one whose keeper is only tidying up after its dead parent is waited for.
 *
 * The claim is a symbolic link, because one is made whole or not at all and never twice.
 *
 * @returns gives the folder back
 */
export async function claim(folder: string, parent: string): Promise<() => Promise<void>> {
  const link = join(folder, "claim")
  const own = `${await processToken(process.pid)} for ${parent}`
  const deadline = Date.now() + patience
  while (!(await makeLink(own, link))) {
    const held = await readlink(link).catch(() => "")
    if (held === "") continue
    const [keeper = "", holder = ""] = held.split(" for ")
    if (!(await isRunning(keeper))) await removeStale(link, held)
    else if ((await isRunning(holder)) || Date.now() > deadline) {
      throw new Error(
        `${folder} is in use by process ${Number.parseInt(holder, 10)} (its server is kept by process ${Number.parseInt(keeper, 10)}): stop that one first.`,
      )
    } else await delay(100)
  }
  return async () => {
    if ((await readlink(link).catch(() => "")) === own) await unlink(link)
  }
}

async function makeLink(target: string, path: string): Promise<boolean> {
  try {
    await symlink(target, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

/** Moves the stale claim away before it is removed, and puts it back when it was another's fresh one after all. */
async function removeStale(link: string, stale: string): Promise<void> {
  const aside = `${link}.${randomUUID()}`
  try {
    await rename(link, aside)
  } catch {
    return
  }
  const moved = await readlink(aside)
  if (moved !== stale) await makeLink(moved, link)
  await unlink(aside)
}
