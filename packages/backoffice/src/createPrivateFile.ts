import { DescribedError } from "@outreach/domain/DescribedError"
import { Effect, FileSystem, type PlatformError } from "effect"

const REASONS: Partial<Record<PlatformError.PlatformError["reason"]["_tag"], string>> = {
  AlreadyExists: "it already exists and isn't overwritten",
  NotFound: "its folder does not exist",
  PermissionDenied: "permission is denied",
}

class UnwritableFile extends DescribedError("UnusableFile", "{file} cannot be written: {reason}.") {}

/** Creates a file that only its owner can read. Removes it with the scope unless `keep` has run. */
export const createPrivateFile = Effect.fnUntraced(function* (path: string) {
  const { open, remove } = yield* FileSystem.FileSystem
  const fault = (reason: string) => new UnwritableFile({ file: path, reason })
  let isKept = false
  const file = yield* Effect.acquireRelease(open(path, { flag: "wx", mode: 0o600 }), () =>
    isKept ? Effect.void : Effect.ignore(remove(path)),
  ).pipe(Effect.mapError(({ reason }) => fault(REASONS[reason._tag] ?? "it cannot be created")))
  return {
    append: (content: string | Uint8Array) =>
      Effect.mapError(file.writeAll(Buffer.from(content as string)), () => fault("a write to it failed")),
    /** Keeps the file after the scope. */
    keep: Effect.sync(() => {
      isKept = true
    }),
  }
})
