import { IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import type { CampaignId } from "@outreach/domain/Identifier"
import { type BadLine, checkLine, type ImportLine, importLines } from "@outreach/domain/recipients/Recipients"
import { Effect, FileSystem, Stream } from "effect"
import { progressBar } from "../output/progressBar.ts"
import { BadLines } from "./BadLines.ts"
import { readLines } from "./readLines.ts"
import { UnusableFile } from "./UnusableFile.ts"

const BATCH = 1000
const MOST_REPORTED = 10_000

/** What an import did. */
export interface ImportReport {
  readonly imported: number
  /** Lines whose NPI and e-mail the campaign had already. */
  readonly alreadyThere: number
  /** Lines of clinicians whom the program must not write to. */
  readonly suppressed: number
  readonly badCount: number
  /** The first 10,000 of the bad lines. */
  readonly badLines: ReadonlyArray<{ readonly line: number; readonly reason: string }>
}

/**
 * Imports a CSV file into a campaign; doing it again imports nothing twice.
 *
 * Reads the file twice: the first time to check every line, so that a file with bad lines imports nothing unless `skipBad`
 * leaves them out; the second time to import batches of 1,000. What only the database can find wrong stops the import
 * after its batch.
 */
export const importFile = Effect.fn("importFile")(function* (
  campaignId: CampaignId,
  file: string,
  options: { readonly skipBad: boolean; readonly quiet: boolean },
) {
  const { status } = yield* (yield* CampaignBook).find(campaignId)
  if (!IMPORTABLE.includes(status)) {
    return yield* new CampaignNotInStatus({ campaignId, status, wanted: [...IMPORTABLE] })
  }
  const checked = yield* checkFile(file, options)
  if (checked.report.badCount > 0 && !options.skipBad) return yield* new BadLines(checked.report)

  const report = emptyReport()
  const bar = yield* progressBar("Importing", checked.lines, options)
  yield* readLines(file).pipe(
    Stream.grouped(BATCH),
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const bad = batch.filter(isBad)
        const result = yield* importLines(campaignId, batch.filter(isGood))
        report.imported += result.imported
        report.alreadyThere += result.alreadyThere
        report.suppressed += result.suppressed
        for (const line of [...bad, ...result.bad].sort((a, b) => a.number - b.number)) noteBad(report, line)
        if (report.badCount > 0 && !options.skipBad) return yield* new BadLines(report)
        yield* bar.advance(batch.length)
      }),
    ),
  )
  return report satisfies ImportReport
}, Effect.scoped)

/** Counts the lines of a file, and reports those that are bad whatever the database says. */
const checkFile = Effect.fnUntraced(function* (file: string, options: { readonly quiet: boolean }) {
  const bar = yield* progressBar("Checking", yield* sizeOf(file), options)
  const report = emptyReport()
  let lines = 0
  yield* readLines(file, bar.advance).pipe(
    Stream.runForEachArray((batch) =>
      Effect.sync(() => {
        for (const line of batch) {
          lines++
          const reason = isBad(line) ? line.reason : checkLine(line)
          if (reason !== undefined) noteBad(report, { number: line.number, reason })
        }
      }),
    ),
  )
  return { lines, report }
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

const isBad = (line: ImportLine | BadLine): line is BadLine => "reason" in line
const isGood = (line: ImportLine | BadLine): line is ImportLine => !isBad(line)

const emptyReport = () => ({
  imported: 0,
  alreadyThere: 0,
  suppressed: 0,
  badCount: 0,
  badLines: [] as Array<ImportReport["badLines"][number]>,
})

const noteBad = (report: ReturnType<typeof emptyReport>, { number, reason }: BadLine): void => {
  report.badCount++
  if (report.badLines.length < MOST_REPORTED) report.badLines.push({ line: number, reason })
}
