import type { BadLine } from "@outreach/domain/campaigns/RecipientImport"
import { Effect, FileSystem, type PlatformError, Schema } from "effect"

/** A refused line with its original text. */
export interface RejectedLine extends BadLine {
  readonly text: string
}

/** The refused lines cannot be written to this file. */
export class UnusableRejectsFile extends Schema.TaggedError<UnusableRejectsFile>()("UnusableRejectsFile", {
  file: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `The refused lines cannot be written to ${this.file}: ${this.reason}.`
  }
}

const REASONS: Partial<Record<PlatformError.PlatformError["reason"]["_tag"], string>> = {
  AlreadyExists: "it exists already, and nothing is overwritten",
  NotFound: "its folder does not exist",
  PermissionDenied: "permission is denied",
}

/**
 * Creates a file for refused lines that only its owner can read. Removes it with the scope unless it has lines and is complete.
 *
 * Its columns are `line`, `reason` and those of the import file. The text of a line is unchanged, so that it can be fixed and imported.
 */
export const createRejectsFile = Effect.fnUntraced(function* (path: string) {
  const { open, remove } = yield* FileSystem.FileSystem
  const state = { hasLines: false, isComplete: false }
  const file = yield* Effect.acquireRelease(open(path, { flag: "wx", mode: 0o600 }), () =>
    state.hasLines && state.isComplete ? Effect.void : Effect.ignore(remove(path)),
  ).pipe(
    Effect.mapError(
      ({ reason }) => new UnusableRejectsFile({ file: path, reason: REASONS[reason._tag] ?? "it cannot be created" }),
    ),
  )
  const append = (text: string) =>
    Effect.mapError(
      file.writeAll(Buffer.from(text)),
      () => new UnusableRejectsFile({ file: path, reason: "a write to it failed" }),
    )
  return {
    /** Appends lines below the header of the import file. */
    write: Effect.fnUntraced(function* (header: string, lines: ReadonlyArray<RejectedLine>) {
      if (lines.length === 0) return
      if (!state.hasLines) yield* append(`line,reason,${header}\n`)
      state.hasLines = true
      yield* append(
        lines.map(({ number, reason, text }) => `${number},"${reason.replaceAll('"', '""')}",${text}\n`).join(""),
      )
    }),
    /** Keeps the file after the scope. */
    complete: Effect.sync(() => {
      state.isComplete = true
    }),
  }
})
