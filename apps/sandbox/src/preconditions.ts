import { mkdir, statfs } from "node:fs/promises"
import { createServer } from "node:net"
import { DirectoryInUse, lockDirectory as lock } from "@outreach/embedded-postgres/lockDirectory"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

const MIN_FREE_BYTES = 16_000_000

/** Fails if the disk of a folder has less than `minFreeBytes` left. */
export const checkDisk = (folder: string, minFreeBytes: number = MIN_FREE_BYTES) =>
  Effect.promise(() => statfs(folder)).pipe(
    Effect.flatMap(({ bavail, bsize }) => {
      const free = bavail * bsize
      return free >= minFreeBytes
        ? Effect.void
        : Effect.fail(
            new SandboxError({
              message: `The disk of ${folder} is full: ${megabytes(free)} MB are free, and the sandbox needs ${megabytes(minFreeBytes)} MB. Free some space, or choose a folder on another disk with --folder.`,
            }),
          )
    }),
  )

const megabytes = (bytes: number): number => Math.floor(bytes / 1_000_000)

/** Fails if a port of 127.0.0.1 is in use. */
export const checkPort = (port: number) =>
  Effect.callback<void, SandboxError>((resume) => {
    const probe = createServer()
    probe.once("error", () =>
      resume(
        Effect.fail(new SandboxError({ message: `Port ${port} is in use; free it, or choose another with --port.` })),
      ),
    )
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.void)))
  })

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
