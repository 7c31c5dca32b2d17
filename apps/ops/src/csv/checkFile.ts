import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import { Effect, Stream } from "effect"
import { printProgress } from "../output/Output.ts"
import type { RejectedLine } from "./createRejectsFile.ts"
import { type Header, isBad, readLines } from "./readLines.ts"

const MAX_REPORTED = 10_000

/** The lines of a file that cannot be used. */
export interface BadLineReport {
  readonly badCount: number
  /** The first 10,000 of them. */
  readonly badLines: ReadonlyArray<{ readonly line: number; readonly reason: string }>
}

/** Counts the lines of a file, and finds the bad lines that can be found without the database. */
export const checkFile = Effect.fnUntraced(function* <E = never>(
  header: Header,
  check: (line: ImportLine) => string | undefined,
  options: {
    readonly quiet: boolean
    /** Called with all bad lines, also those beyond the reported 10,000. */
    readonly onBad?: ((lines: ReadonlyArray<RejectedLine>) => Effect.Effect<void, E>) | undefined
  },
) {
  const bar = yield* printProgress("Checking", header.size, options)
  const report = { badCount: 0, badLines: [] }
  let lines = 0
  yield* readLines(header, bar.advance).pipe(
    Stream.runForEachArray((batch) => {
      lines += batch.length
      const bad = batch.flatMap((line) => {
        const reason = isBad(line) ? line.reason : check(line)
        return reason === undefined ? [] : [{ number: line.number, reason, text: line.text }]
      })
      for (const line of bad) addBadLine(report, line)
      return options.onBad?.(bad) ?? Effect.void
    }),
  )
  return { lines, bad: report satisfies BadLineReport }
}, Effect.scoped)

/** Adds a bad line to a report. */
export const addBadLine = (
  report: { badCount: number; badLines: Array<BadLineReport["badLines"][number]> },
  { number, reason }: BadLine,
): void => {
  report.badCount++
  if (report.badLines.length < MAX_REPORTED) report.badLines.push({ line: number, reason })
}
