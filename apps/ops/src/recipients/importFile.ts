import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { createLineParser, importLines } from "@outreach/domain/campaigns/RecipientImport"
import { loadFieldsCheck } from "@outreach/domain/campaigns/UnrenderedRecipients"
import type { CampaignId } from "@outreach/domain/Identifier"
import { PLACE_FIELDS } from "@outreach/domain/recipients/timeZonesOf"
import { Effect, Result, Stream } from "effect"
import { addBadLine, BadLines, checkFile, createRejectsFile, type RejectedLine } from "../csv/badLines.ts"
import type { ColumnMap } from "../csv/ColumnMap.ts"
import { readHeader } from "../csv/readHeader.ts"
import { isBad, isGood, readLines } from "../csv/readLines.ts"
import { printProgress } from "../output/Output.ts"

const BATCH_SIZE = 1000

/**
 * Imports a CSV file into a campaign. Importing it again imports nothing twice.
 *
 * Reads the file twice. The first pass checks every line: with bad lines, nothing is imported unless `skipBad` leaves them
 * out. The second pass imports batches of 1,000. A line that only the database can refuse stops the import after its batch.
 * `rejects` receives all refused lines, and is removed if the import fails for another reason.
 */
export const importFile = Effect.fn("importFile")(function* (
  campaignId: CampaignId,
  file: string,
  options: {
    readonly skipBad: boolean
    readonly ignoreColumns: boolean
    /** The fields to take beside those of the campaign; `all` takes every column. */
    readonly fields: ReadonlyArray<string> | "all"
    readonly map?: ColumnMap
    /** The path of a new file for the refused lines and their reasons. */
    readonly rejects?: string
    readonly quiet: boolean
  },
) {
  const campaign = yield* (yield* CampaignRepository).find(campaignId)
  const { status } = campaign
  if (!IMPORTABLE.includes(status)) {
    return yield* new CampaignNotInStatus({ campaignId, status, wanted: [...IMPORTABLE] })
  }
  const { skipBad, quiet } = options
  const rejects = options.rejects === undefined ? undefined : yield* createRejectsFile(options.rejects)
  const header = yield* readHeader(file, "npi and email", { ...options, ...fieldsToTake(campaign, options.fields) })
  const reject = (lines: ReadonlyArray<RejectedLine>) => rejects?.write(header, lines) ?? Effect.void
  const complete = rejects?.complete ?? Effect.void

  const parse = createLineParser(campaign, yield* loadFieldsCheck(campaign))
  const checked = yield* checkFile(header, (line) => Result.getOrUndefined(Result.flip(parse(line))), {
    quiet,
    onBad: skipBad ? undefined : reject,
  })
  const withoutPlace = campaign.hours === null ? undefined : 0
  const report = { imported: 0, updated: 0, alreadyThere: 0, suppressed: 0, withoutPlace, badCount: 0, badLines: [] }
  if (checked.bad.badCount > 0 && !skipBad) {
    yield* complete
    return yield* new BadLines({ ...report, ...checked.bad })
  }

  const bar = yield* printProgress("Importing", checked.lines, options)
  yield* readLines(header).pipe(
    Stream.grouped(BATCH_SIZE),
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const result = yield* importLines(campaignId, batch.filter(isGood))
        report.imported += result.imported
        report.updated += result.updated
        report.alreadyThere += result.alreadyThere
        report.suppressed += result.suppressed
        if (report.withoutPlace !== undefined) report.withoutPlace += result.withoutPlace ?? 0
        const reasons = new Map([...batch.filter(isBad), ...result.bad].map(({ number, reason }) => [number, reason]))
        const bad = batch.flatMap(({ number, text }) => {
          const reason = reasons.get(number)
          return reason === undefined ? [] : [{ number, reason, text }]
        })
        for (const line of bad) addBadLine(report, line)
        yield* reject(bad)
        if (bad.length > 0 && !skipBad) {
          yield* complete
          return yield* new BadLines(report)
        }
        yield* bar.advance(batch.length)
      }),
    ),
  )
  yield* complete
  return report
}, Effect.scoped)

/** Returns the fields that an import takes: none, where the campaign declares none and the operator names none, and the place where the campaign has hours. */
const fieldsToTake = (campaign: Pick<Campaign, "fields" | "hours">, named: ReadonlyArray<string> | "all") => {
  const fields = named === "all" ? named : [...new Set([...campaign.fields, ...named])]
  return {
    ...(fields.length > 0 && { fields }),
    ...(campaign.hours !== null && { fieldsIfThere: PLACE_FIELDS }),
  }
}
