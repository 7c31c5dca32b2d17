import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DirectoryInUse, lockDirectory as lock } from "@outreach/embedded-postgres/lockDirectory"
import { Effect, Exit, Scope } from "effect"
import { SandboxError } from "./SandboxError.ts"
import { serveHttp } from "./serveHttp.ts"

/** Occupies the first free one of some ports until `release`, so that no other process takes it; 0 chooses one. `option` sets the port. */
export const holdPort = Effect.fnUntraced(function* (host: string, option: string, ports: ReadonlyArray<number>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const hold = (port: number) => serveHttp(host, port, option, () => {}).pipe(Scope.provide(scope))
  const port = yield* Effect.firstSuccessOf(ports.map(hold))
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
