import { statfs } from "node:fs/promises"
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
