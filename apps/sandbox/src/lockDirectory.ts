import { mkdir } from "node:fs/promises"
import { DirectoryInUse, lockDirectory as lock } from "@outreach/embedded-postgres/lockDirectory"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** Locks a folder for this process until the scope closes. Fails if another running sandbox holds the lock; replaces the lock of a dead one. */
export const lockDirectory = Effect.fnUntraced(function* (folder: string) {
  yield* Effect.promise(() => mkdir(folder, { recursive: true }))
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
