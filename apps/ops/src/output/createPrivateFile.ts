import { Effect, FileSystem, type PlatformError } from "effect"
import { refusal } from "./Output.ts"

const REASONS: Partial<Record<PlatformError.PlatformError["reason"]["_tag"], string>> = {
  AlreadyExists: "it exists already, and nothing is overwritten",
  NotFound: "its folder does not exist",
  PermissionDenied: "permission is denied",
}

const unusableFile = (file: string, reason: string) =>
  refusal("UnusableFile", `${file} cannot be written: ${reason}.`, { file, reason })

/** Creates a file that only its owner can read. Removes it with the scope unless `keep` has run. Fails with what `unusable` makes of a reason. */
export const createPrivateFile = Effect.fnUntraced(function* (path: string, unusable = unusableFile) {
  const { open, remove } = yield* FileSystem.FileSystem
  let isKept = false
  const file = yield* Effect.acquireRelease(open(path, { flag: "wx", mode: 0o600 }), () =>
    isKept ? Effect.void : Effect.ignore(remove(path)),
  ).pipe(Effect.mapError(({ reason }) => unusable(path, REASONS[reason._tag] ?? "it cannot be created")))
  return {
    append: (text: string) =>
      Effect.mapError(file.writeAll(Buffer.from(text)), () => unusable(path, "a write to it failed")),
    /** Keeps the file after the scope. */
    keep: Effect.sync(() => {
      isKept = true
    }),
  }
})
