import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { processToken } from "@outreach/embedded-postgres/processToken"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** Takes the folder for this process until the scope closes; refuses while another sandbox has it. What a killed one has left is taken over. */
export const holdFolder = Effect.fnUntraced(function* (folder: string) {
  const file = join(folder, "sandbox.pid")
  const holder = yield* Effect.promise(async () => {
    await mkdir(folder, { recursive: true })
    const [pid, token] = (await readFile(file, "utf8").catch(() => "")).split("\n")
    return pid && token && (await processToken(Number(pid))) === token ? pid : undefined
  })
  if (holder !== undefined) {
    return yield* new SandboxError({
      message: `A sandbox runs on ${folder} already, as process ${holder}. Stop it, or give --folder and --port.`,
    })
  }
  yield* Effect.acquireRelease(
    Effect.promise(async () => writeFile(file, `${process.pid}\n${await processToken(process.pid)}`)),
    () => Effect.promise(() => rm(file, { force: true })),
  )
})
