import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DirectoryInUse, lockDirectory as lock } from "@outreach/embedded-postgres/lockDirectory"
import { Effect, Exit, Scope } from "effect"
import { SandboxError } from "./SandboxError.ts"
import { serveHttp } from "./serveHttp.ts"

/** Returns a port that no other process uses; 0 chooses one. Fails with the option that sets it. */
export const checkPort = (host: string, port: number, option: string) =>
  Effect.scoped(serveHttp(host, port, option, () => {}))

const CONSOLE_PORT = 8090

/** Occupies the requested port of the console until `release`, so that no other sandbox takes it. Default: 8090, or a free one if that is in use. */
export const holdConsolePort = Effect.fnUntraced(function* (host: string, requested: number | undefined) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const hold = (port: number) => serveHttp(host, port, "--console-port", () => {}).pipe(Scope.provide(scope))
  const port = yield* requested === undefined ? Effect.catch(hold(CONSOLE_PORT), () => hold(0)) : hold(requested)
  return { port, release: Scope.close(scope, Exit.void) }
})

/** Locks a folder for this process until the scope closes. Fails if another running sandbox has locked it; replaces the lock of a dead one. */
export const lockDirectory = Effect.fnUntraced(function* (folder: string) {
  const created = yield* Effect.promise(() => mkdir(folder, { recursive: true }))
  // The user's repository should not contain the keys.
  if (created !== undefined) yield* Effect.promise(() => writeFile(join(folder, ".gitignore"), "*\n"))
  yield* Effect.acquireRelease(
    Effect.promise(() => lock(folder)),
    (unlock) => Effect.promise(unlock),
  ).pipe(
    Effect.catchDefect((error) =>
      error instanceof DirectoryInUse
        ? new SandboxError({
            message: `A sandbox runs on ${folder} already, as process ${error.holder}. Stop it, or give --folder and --port.`,
          })
        : Effect.die(error),
    ),
  )
})
