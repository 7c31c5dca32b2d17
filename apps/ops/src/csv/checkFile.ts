import type { BadLine, ImportLine } from "@outreach/domain/recipients/Recipients"
import { Effect, FileSystem, Stream } from "effect"
import { progressBar } from "../output/progressBar.ts"
import { type Columns, readLines } from "./readLines.ts"
import { UnusableFile } from "./UnusableFile.ts"

const MOST_REPORTED = 10_000

/** The lines of a file that cannot be used. */
export interface BadLineReport {
  readonly badCount: number
  /** The first 10,000 of them. */
  readonly badLines: ReadonlyArray<{ readonly line: number; readonly reason: string }>
}

/** Counts the lines of a file, and reports those that are bad whatever the database says. */
export const checkFile = Effect.fnUntraced(function* (
  file: string,
  columns: Columns,
  check: (line: ImportLine) => string | undefined,
  options: { readonly quiet: boolean },
) {
  const bar = yield* progressBar("Checking", yield* sizeOf(file), options)
  const bad = { badCount: 0, badLines: [] }
  let lines = 0
  yield* readLines(file, columns, bar.advance).pipe(
    Stream.runForEachArray((batch) =>
      Effect.sync(() => {
        for (const line of batch) {
          lines++
          const reason = isBad(line) ? line.reason : check(line)
          if (reason !== undefined) noteBad(bad, { number: line.number, reason })
        }
      }),
    ),
  )
  return { lines, bad: bad satisfies BadLineReport }
}, Effect.scoped)

const sizeOf = Effect.fnUntraced(function* (file: string) {
  const { stat } = yield* FileSystem.FileSystem
  if (file === "-") {
    return yield* new UnusableFile({ file: "Standard input", reason: "a file is read twice; give a file's name" })
  }
  const { type, size } = yield* Effect.mapError(
    stat(file),
    ({ reason }) =>
      new UnusableFile({ file, reason: reason._tag === "NotFound" ? "it does not exist" : "it cannot be read" }),
  )
  if (type !== "File")
    return yield* new UnusableFile({ file, reason: "it is no regular file, and a file is read twice" })
  return Number(size)
})

export const isBad = (line: ImportLine | BadLine): line is BadLine => "reason" in line
export const isGood = (line: ImportLine | BadLine): line is ImportLine => !isBad(line)

/** Adds a bad line to a report. */
export const noteBad = (
  report: { badCount: number; badLines: Array<BadLineReport["badLines"][number]> },
  { number, reason }: BadLine,
): void => {
  report.badCount++
  if (report.badLines.length < MOST_REPORTED) report.badLines.push({ line: number, reason })
}
