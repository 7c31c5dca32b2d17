import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { findInStatus } from "@outreach/domain/campaigns/Campaigns"
import { checkLines, createLineParser, type ImportLine, importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { CampaignId } from "@outreach/domain/Identifier"
import { maskEmail, maskNpi } from "@outreach/domain/recipients/Clinician"
import { inTransaction } from "@outreach/domain/Transaction"
import { reader } from "@outreach/postgres/adapter"
import { rowsOf } from "@outreach/postgres/rowsOf"
import { Cause, Effect, Exit, Record, Result, Schema, Stream } from "effect"
import { type Header, type HeaderOptions, readHeader } from "../csv/readHeader.ts"
import {
  addBadLine,
  type BadLineReport,
  BadLines,
  checkFile,
  type FileLine,
  isBad,
  isGood,
  MAX_REPORTED,
  type RejectedLine,
  RejectsFile,
  readLines,
} from "../csv/readLines.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { type ImportCounts, ImportLog } from "./ImportLog.ts"

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
 * Reads the file twice. The first pass checks the lines and compares them with each other: bad lines prevent the import unless `skipBad` omits
 * them. The second imports batches of 1,000. A line that only the database can reject stops the import after its batch. Of lines with the same NPI
 * and address the first counts.
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
  const { lines, bad, faults } = yield* compareLines(header, parse)
  const reasonOf = (line: FileLine): string | undefined =>
    isBad(line) ? line.reason : (Result.getOrUndefined(Result.flip(parse(line))) ?? faults.get(line.number))
  const repeated = [...faults.values()].filter((reason) => reason === REPEATED).length
  const { readAs } = header
  const counts = { imported: 0, updated: 0, alreadyThere: 0, suppressed: 0, repeated }
  const report = { readAs, ...counts, badCount: 0, badLines: [] as BadLineReport["badLines"] }
  const rejectedIn = (batch: ReadonlyArray<FileLine>, reasons: (line: FileLine) => string | undefined) =>
    batch.flatMap((line): ReadonlyArray<RejectedLine> => {
      const reason = reasons(line)
      return reason === undefined || reason === REPEATED ? [] : [{ number: line.number, reason, text: line.text }]
    })
  if (bad.badCount > 0 && !skipBad) {
    if (rejects !== undefined) {
      yield* Stream.runForEachArray(readLines(header), (batch) => reject(rejectedIn(batch, reasonOf)))
      yield* rejects.complete
    }
    yield* save(lines, { ...report, ...bad })
    return yield* new BadLines({ ...report, ...bad })
  }

  const firstLines = Stream.runCollect(Stream.take(readLines(header), SHOWN_LINES))
  const first = check ? (yield* firstLines).map((line) => understood(line, reasonOf(line) ?? null)) : undefined
  const register = check ? checkLines : importLines
  const importBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<FileLine>) {
    const reasons = new Map(batch.map((line) => [line.number, reasonOf(line)]))
    const good = batch.filter(isGood).filter(({ number }) => reasons.get(number) === undefined)
    const result = yield* register(campaign.id, good)
    for (const name of ["imported", "updated", "alreadyThere", "suppressed"] as const) report[name] += result[name]
    for (const { number, reason } of result.bad) reasons.set(number, reason)
    const refused = rejectedIn(batch, ({ number }) => reasons.get(number))
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

/** Counts the lines, and finds the bad ones: also those that contradict earlier ones. `faults` has these, and the repeated ones. */
const compareLines = Effect.fnUntraced(function* (header: Header, parse: ReturnType<typeof createLineParser>) {
  const comparison = yield* LineComparison
  yield* comparison.begin
  const { lines, bad } = yield* checkFile(header, parse, comparison.add)
  const faults = yield* comparison.find
  const contradictions = [...faults].flatMap(([line, reason]) => (reason === REPEATED ? [] : [{ line, reason }]))
  const badLines = [...bad.badLines, ...contradictions].sort((one, other) => one.line - other.line)
  const badCount = bad.badCount + contradictions.length
  return { lines, bad: { badCount, badLines: badLines.slice(0, MAX_REPORTED) }, faults }
}, inTransaction)

const REPEATED = "repeated"

/** The numbers of a line, and of the first lines with its NPI and its address. */
const ComparedLine = Schema.Struct({ number: Schema.Int, ofNpi: Schema.Int, ofEmail: Schema.Int })
const compared = rowsOf(ComparedLine)

/** Compares the valid lines of a file in a temporary table. Call its methods in order, in one transaction, which drops the table. */
const LineComparison = reader("LineComparison", (sql) => ({
  begin: sql`
    create temporary table compared_lines (number integer, npi text collate "C", email text collate "C") on commit drop
  `.pipe(Effect.asVoid),

  add: (lines: ReadonlyArray<Pick<ImportLine, "number" | "npi" | "email">>) =>
    sql`
      insert into compared_lines
      select * from unnest(${lines.map(({ number }) => number)}::integer[], ${lines.map(({ npi }) => npi)}::text[],
        ${lines.map(({ email }) => email.toLowerCase())}::text[])`.pipe(Effect.asVoid),

  /** Returns each line with an NPI or address of an earlier line by its number: `REPEATED` if both match, otherwise the fault. */
  find: sql`
    select ${compared.columns} from (
      select number, min(number) over (partition by npi) as of_npi, min(number) over (partition by email) as of_email
      from compared_lines
    ) compared
    where of_npi < number or of_email < number`.pipe(
    compared.decode,
    Effect.map((lines) => new Map(lines.map((line) => [line.number, describeClash(line)]))),
  ),
}))

const describeClash = ({ number, ofNpi, ofEmail }: typeof ComparedLine.Type): string => {
  if (ofNpi === ofEmail) return REPEATED
  return ofNpi < number
    ? `line ${ofNpi} has this NPI with another e-mail address: keep the line that is right`
    : `line ${ofEmail} has this e-mail address with another NPI: keep the line that is right`
}

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
