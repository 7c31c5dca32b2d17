import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { isRunning, processToken } from "@outreach/embedded-postgres/processToken"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** Locks a folder for this process until the scope closes. Fails if another running sandbox holds the lock; replaces the lock of a dead one. */
export const lockDirectory = Effect.fnUntraced(function* (folder: string) {
  const file = join(folder, "sandbox.pid")
  const own = yield* Effect.promise(async () => {
    await mkdir(folder, { recursive: true })
    return `${await processToken(process.pid)}`
  })

  /** Returns the token of the process that holds the lock, or undefined once this process holds it. */
  const acquire = async (): Promise<string | undefined> => {
    try {
      await writeFile(file, own, { flag: "wx" })
      return undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    const holder = await readFile(file, "utf8").catch(() => "")
    if (await isRunning(holder)) return holder
    await rm(file, { force: true })
    return acquire()
  }
  const holder = yield* Effect.acquireRelease(Effect.promise(acquire), (holder) =>
    Effect.promise(async () => holder === undefined && rm(file, { force: true })),
  )
  if (holder !== undefined) {
    return yield* new SandboxError({
      message: `A sandbox runs on ${folder} already, as process ${Number.parseInt(holder, 10)}. Stop it, or give --folder and --port.`,
    })
  }
})
