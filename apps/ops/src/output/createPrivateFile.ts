import { Effect, FileSystem, type PlatformError, Schema } from "effect"

/** A file cannot be created or written. */
export class UnusableFile extends Schema.TaggedError<UnusableFile>()("UnusableFile", {
  file: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `${this.file} cannot be written: ${this.reason}.`
  }
}

const REASONS: Partial<Record<PlatformError.PlatformError["reason"]["_tag"], string>> = {
  AlreadyExists: "it exists already, and nothing is overwritten",
  NotFound: "its folder does not exist",
  PermissionDenied: "permission is denied",
}

/** Creates a file that only its owner can read. Removes it with the scope unless `keep` has run. */
export const createPrivateFile = Effect.fnUntraced(function* (path: string) {
  const { open, remove } = yield* FileSystem.FileSystem
  let isKept = false
  const file = yield* Effect.acquireRelease(open(path, { flag: "wx", mode: 0o600 }), () =>
    isKept ? Effect.void : Effect.ignore(remove(path)),
  ).pipe(
    Effect.mapError(
      ({ reason }) => new UnusableFile({ file: path, reason: REASONS[reason._tag] ?? "it cannot be created" }),
    ),
  )
  return {
    append: (text: string) =>
      Effect.mapError(
        file.writeAll(Buffer.from(text)),
        () => new UnusableFile({ file: path, reason: "a write to it failed" }),
      ),
    /** Keeps the file after the scope. */
    keep: Effect.sync(() => {
      isKept = true
    }),
  }
})
