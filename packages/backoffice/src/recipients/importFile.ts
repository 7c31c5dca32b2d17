import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { findInStatus } from "@outreach/domain/campaigns/Campaigns"
import { checkLines, createLineParser, type ImportLine, importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { CampaignId } from "@outreach/domain/Identifier"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { inTransaction } from "@outreach/domain/Transaction"
import { Array as Arr, Cause, Effect, Exit, Record, Result, Stream } from "effect"
import { addBadLine, type BadLineReport, BadLines, checkFile, type RejectedLine, RejectsFile } from "../csv/badLines.ts"
import { type Header, type HeaderOptions, readHeader } from "../csv/readHeader.ts"
import { type FileLine, isBad, isGood, readLines } from "../csv/readLines.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { type ImportCounts, ImportLog } from "./ImportLog.ts"
import { LineComparison, REPEATED } from "./LineComparison.ts"

const BATCH_SIZE = 1000
const SHOWN_LINES = 10
const MAX_SHOWN_LENGTH = 30

/** Its fields are in addition to those of the campaign. */
interface ImportOptions extends Omit<HeaderOptions, "fieldsIfThere"> {
  readonly skipBad?: boolean
  /** Counts the effects of an import without importing. */
  readonly check?: boolean
  /** The operator, for the record of imports. */
  readonly operator: string
}

/**
 * Imports a delimited file into a campaign and records it. Importing it again creates no duplicates.
 *
 * Reads the file three times. The first pass compares the lines with each other. The second checks every line: bad lines prevent
 * the import unless `skipBad` omits them. The third imports batches of 1,000. A line that only the database can reject stops the import after its batch.
 * Of lines with the same NPI and address the first counts.
 */
export const importFile = Effect.fn("importFile")(function* (
  campaignId: CampaignId,
  file: string,
  options: ImportOptions,
) {
  const campaign = yield* findInStatus(campaignId, IMPORTABLE)
  const header = yield* readHeader(file, "npi and email", { ...options, ...fieldsToTake(campaign, options.fields) })
  if (options.check) return yield* importLinesOf(header, campaign, options, () => Effect.void)
  const log = yield* ImportLog
  const id = yield* log.begin(campaign, options.operator)
  yield* (yield* TaskProgress).begin?.(id) ?? Effect.void
  const key = { organizationId: campaign.organizationId, id }
  let kept = 0
  return yield* importLinesOf(header, campaign, options, (lines, { badCount, badLines, ...counts }) => {
    const news = badCount > kept ? badLines : undefined
    kept = badCount
    return log.save(key, { ...counts, lines, rejected: badCount }, news)
  }).pipe(Effect.onExit((exit) => log.end(key, faultOf(exit))))
}, Effect.scoped)

const importLinesOf = Effect.fnUntraced(function* (
  header: Header,
  campaign: Campaign,
  options: ImportOptions,
  /** Stores the counts so far, in each batch's transaction. */
  save: (lines: number | null, report: Report) => Effect.Effect<void>,
) {
  const { check = false } = options
  const skipBad = options.skipBad || check
  const rejects = yield* RejectsFile
  const reject = (lines: ReadonlyArray<RejectedLine>) => rejects?.write(header, lines) ?? Effect.void
  const complete = rejects?.complete ?? Effect.void

  const parse = createLineParser(campaign)
  const faults = yield* compareLines(header, parse)
  const judge = (line: ImportLine) => Result.getOrUndefined(Result.flip(parse(line))) ?? faults.get(line.number)
  let repeated = 0
  const { lines, bad } = yield* checkFile(
    header,
    (line) => {
      const reason = judge(line)
      if (reason !== REPEATED) return reason
      repeated++
      return undefined
    },
    skipBad ? undefined : reject,
  )
  const { readAs } = header
  const counts = { imported: 0, updated: 0, alreadyThere: 0, suppressed: 0, repeated }
  const report = { readAs, ...counts, badCount: 0, badLines: [] as BadLineReport["badLines"] }
  if (bad.badCount > 0 && !skipBad) {
    yield* complete
    yield* save(lines, { ...report, ...bad })
    return yield* new BadLines({ ...report, ...bad })
  }

  const firstLines = readLines(header).pipe(
    Stream.take(SHOWN_LINES),
    Stream.map((line) => understood(line, (isBad(line) ? line.reason : judge(line)) ?? null)),
    Stream.runCollect,
  )
  const first = check ? yield* firstLines : undefined
  const register = check ? checkLines : importLines
  const importBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<FileLine>) {
    const compared = batch.map((line) => {
      const reason = isGood(line) && faults.has(line.number) ? judge(line) : undefined
      return reason === undefined ? line : { number: line.number, text: line.text, reason }
    })
    const result = yield* register(campaign.id, compared.filter(isGood))
    for (const name of ["imported", "updated", "alreadyThere", "suppressed"] as const) report[name] += result[name]
    const reasons = new Map([...compared.filter(isBad), ...result.bad].map(({ number, reason }) => [number, reason]))
    const refused = batch.flatMap(({ number, text }) => {
      const reason = reasons.get(number)
      return reason === undefined || reason === REPEATED ? [] : [{ number, reason, text }]
    })
    for (const line of refused) addBadLine(report, line)
    yield* save(lines, report)
    return refused
  }, inTransaction)
  yield* save(lines, report)
  const bar = yield* (yield* TaskProgress).bar(check ? "Comparing" : "Importing", lines)
  yield* readLines(header).pipe(
    Stream.grouped(BATCH_SIZE),
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const refused = yield* importBatch(batch)
        yield* reject(refused)
        if (refused.length > 0 && !skipBad) {
          yield* complete
          return yield* new BadLines(report)
        }
        yield* bar.advance(batch.length)
      }),
    ),
  )
  yield* complete
  return { ...report, first }
})

/** Finds the lines that repeat or contradict earlier ones. Bad lines aren't compared. */
const compareLines = Effect.fnUntraced(function* (header: Header, parse: ReturnType<typeof createLineParser>) {
  const comparison = yield* LineComparison
  yield* comparison.begin
  yield* readLines(header).pipe(
    Stream.grouped(BATCH_SIZE),
    Stream.runForEach((batch) =>
      comparison.add(
        batch.filter(isGood).flatMap((line) => Result.getOrElse(Result.map(parse(line), Arr.of), () => [])),
      ),
    ),
  )
  return yield* comparison.find
}, inTransaction)

type Report = Pick<ImportCounts, "imported" | "updated" | "alreadyThere" | "suppressed" | "repeated"> & BadLineReport

/** Describes why an import stopped early; null if it didn't. */
const faultOf = <A, E extends Error>(exit: Exit.Exit<A, E>): string | null => {
  if (Exit.isSuccess(exit)) return null
  if (Cause.hasInterruptsOnly(exit.cause)) return "It was interrupted."
  const error = exit.cause.reasons.find(Cause.isFailReason)?.error
  if (error === undefined) return "It failed unexpectedly, see the log of its process."
  return "file" in error && "reason" in error ? `A file cannot be used: ${error.reason}.` : error.message
}

/** A parsed line with masked personal data. */
export type UnderstoodLine = ReturnType<typeof understood>

const understood = (line: FileLine, fault: string | null) => {
  const fields: Readonly<Record<string, string>> = (isGood(line) ? line.fields : undefined) ?? {}
  const person = isGood(line) ? { npi: maskNpi(line.npi), email: maskEmail(line.email) } : { npi: null, email: null }
  return { line: line.number, ...person, fields: Record.map(fields, maskText), fault }
}

/** Masks addresses, and all but the end of numbers, in the start of a text. */
export const maskText = (text: string): string => {
  const masked = text.replaceAll(/\S+@/g, "•••@").replaceAll(/\d(?=\d{4})/g, "•")
  return masked.length > MAX_SHOWN_LENGTH ? `${masked.slice(0, MAX_SHOWN_LENGTH)}…` : masked
}

/** Returns the fields of an import: none if neither the campaign nor the operator names any. */
const fieldsToTake = ({ fields: declared }: Pick<Campaign, "fields">, named: ReadonlyArray<string> | "all" = []) => {
  const fields = named === "all" ? named : [...new Set([...declared, ...named])]
  return fields.length > 0 ? { fields } : {}
}
