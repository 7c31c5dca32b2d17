import { IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import type { CampaignId } from "@outreach/domain/Identifier"
import { checkLine, importLines } from "@outreach/domain/recipients/Recipients"
import { Effect, Stream } from "effect"
import { BadLines } from "../csv/BadLines.ts"
import { type BadLineReport, checkFile, isBad, isGood, noteBad } from "../csv/checkFile.ts"
import { readLines } from "../csv/readLines.ts"
import { progressBar } from "../output/progressBar.ts"

const BATCH = 1000
const ALL_COLUMNS = "npi and email"

/** What an import did. */
export interface ImportReport extends BadLineReport {
  readonly imported: number
  /** Lines whose NPI and e-mail the campaign had already. */
  readonly alreadyThere: number
  /** Lines of clinicians whom the program must not write to. */
  readonly suppressed: number
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
  const checked = yield* checkFile(file, ALL_COLUMNS, checkLine, options)
  const report = { imported: 0, alreadyThere: 0, suppressed: 0, badCount: 0, badLines: [] }
  if (checked.bad.badCount > 0 && !options.skipBad) return yield* new BadLines({ ...report, ...checked.bad })

  const bar = yield* progressBar("Importing", checked.lines, options)
  yield* readLines(file, ALL_COLUMNS).pipe(
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
