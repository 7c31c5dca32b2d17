import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { isRunning, processToken } from "@outreach/embedded-postgres/processToken"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** Takes the folder for this process until the scope closes; refuses while another sandbox has it. What a killed one has left is taken over. */
export const holdFolder = Effect.fnUntraced(function* (folder: string) {
  const file = join(folder, "sandbox.pid")
  const own = yield* Effect.promise(async () => {
    await mkdir(folder, { recursive: true })
    return `${await processToken(process.pid)}`
  })

  const holder = async (): Promise<string | undefined> => {
    try {
      await writeFile(file, own, { flag: "wx" })
      return undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    const held = await readFile(file, "utf8").catch(() => "")
    if (await isRunning(held)) return held
    await rm(file, { force: true })
    return holder()
  }
  const held = yield* Effect.acquireRelease(Effect.promise(holder), (held) =>
    Effect.promise(async () => held === undefined && rm(file, { force: true })),
  )
  if (held !== undefined) {
    return yield* new SandboxError({
      message: `A sandbox runs on ${folder} already, as process ${Number.parseInt(held, 10)}. Stop it, or give --folder and --port.`,
    })
  }
})
