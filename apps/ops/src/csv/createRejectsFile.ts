import type { BadLine } from "@outreach/domain/campaigns/RecipientImport"
import { Effect } from "effect"
import { createPrivateFile } from "../output/createPrivateFile.ts"
import { refusal } from "../output/refuse.ts"

/** A refused line with its original text. */
export interface RejectedLine extends BadLine {
  readonly text: string
}

const unusable = (file: string, reason: string) =>
  refusal("UnusableRejectsFile", `The refused lines cannot be written to ${file}: ${reason}.`, { file, reason })

/**
 * Creates a file for refused lines that only its owner can read. Removes it with the scope unless it has lines and is complete.
 *
 * Its columns are `line`, `reason` and those of the import file. The text of a line is unchanged, so that it can be fixed and imported.
 */
export const createRejectsFile = Effect.fnUntraced(function* (path: string) {
  const { append, keep } = yield* createPrivateFile(path, unusable)
  let hasLines = false
  return {
    /** Appends lines below the header of the import file. */
    write: Effect.fnUntraced(function* (header: string, lines: ReadonlyArray<RejectedLine>) {
      if (lines.length === 0) return
      if (!hasLines) yield* append(`line,reason,${header}\n`)
      hasLines = true
      yield* append(
        lines.map(({ number, reason, text }) => `${number},"${reason.replaceAll('"', '""')}",${text}\n`).join(""),
      )
    }),
    /** Keeps the file after the scope. */
    complete: Effect.suspend(() => (hasLines ? keep : Effect.void)),
  }
})
