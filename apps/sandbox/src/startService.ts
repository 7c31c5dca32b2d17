import { spawn } from "node:child_process"
import { createWriteStream } from "node:fs"
import { fileURLToPath } from "node:url"
import { Deferred, Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"
import { stopProcess } from "./stopProcess.ts"

/** How much of a service's last words is repeated when it ends by itself. */
const LAST_WORDS = 2000

/**
 * Starts a service as a process of its own, logging to a file, until the scope closes; it also stops when the sandbox is killed.
 *
 * Answers `ended`, which fails with the service's last words when it ends by itself.
 */
export const startService = Effect.fnUntraced(function* (
  name: string,
  options: { readonly main: string; readonly environment: Readonly<Record<string, string>>; readonly log: string },
) {
  const ended = yield* Deferred.make<never, SandboxError>()
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(
        process.execPath,
        ["--import", import.meta.resolve("./untilParentEnds.ts"), fileURLToPath(options.main)],
        // In a session of its own: Ctrl-C in the terminal reaches the sandbox, which stops it in its turn.
        { env: { PATH: process.env["PATH"], ...options.environment }, stdio: ["pipe", "pipe", "pipe"], detached: true },
      )
      child.stdin.on("error", () => {})
      const log = createWriteStream(options.log, { mode: 0o600 })
      let words = ""
      for (const output of [child.stdout, child.stderr]) {
        output.setEncoding("utf8")
        output.on("data", (text: string) => {
          words = (words + text).slice(-LAST_WORDS)
          log.write(text)
        })
      }
      child.once("close", () => {
        log.end()
        const message = `The ${name} has ended. Its last words, in ${options.log}:\n${words.trimEnd()}`
        Deferred.doneUnsafe(ended, Effect.fail(new SandboxError({ message })))
      })
      return child
    }),
    stopProcess,
  )
  return { ended: Deferred.await(ended) }
})
