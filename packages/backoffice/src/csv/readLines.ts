import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import { Context, Effect, Result, Schema, Stream } from "effect"
import { createPrivateFile } from "../createPrivateFile.ts"
import { TaskProgress } from "../TaskProgress.ts"
import type { Header } from "./readHeader.ts"
import { type Row, readRows } from "./readRows.ts"

export type FileLine = (ImportLine | BadLine) & { readonly text: string }

/** Reads the lines of an import file after its header. A missing column is empty. */
export const readLines = (header: Header, onBytes?: (bytes: number) => Effect.Effect<void>) => {
  const { file, encoding, delimiter, columnCount, npi, email, fields: columns } = header
  // NPIs and addresses never contain a line end.
  const isWhole = (fields: ReadonlyArray<string>): boolean =>
    fields.length === columnCount && !/[\r\n]/.test(`${fields[npi] ?? ""}${fields[email] ?? ""}`)
  const bytes = `bytes that are not ${encoding.toUpperCase()}, as the file is; save it as UTF-8`
  const toLine = ({ number, text, fields }: Row): FileLine => {
    if (text.includes("\0")) return { number, text, reason: "the line has a NUL byte" }
    if (UNREADABLE.test(text)) return { number, text, reason: `the line has ${bytes}` }
    if (fields === undefined) return { number, text, reason: "the line has a quote that does not pair" }
    if (fields.length !== columnCount)
      return { number, text, reason: `the line has ${fields.length} fields and the header ${columnCount}` }
    const cells = fields.map(rearmFormula)
    const filled = columns?.filter(({ index }) => cells[index]!.trim() !== "")
    const given = filled && { fields: Object.fromEntries(filled.map(({ name, index }) => [name, cells[index]!])) }
    return { number, text, npi: cells[npi] ?? "", email: cells[email] ?? "", ...given }
  }
  return readRows(file, { encoding, delimiter, isWhole, onBytes }).pipe(
    Stream.filter(({ number }) => number > header.line),
    Stream.map(toLine),
  )
}

/** A replacement character, or a control character decoded from an undefined byte of Windows-1252. */
const UNREADABLE = /[\uFFFD\x81\x8D\x8F\x90\x9D]/

/** Removes the apostrophe before a formula in a file of rejected lines. */
const rearmFormula = (cell: string): string => cell.replace(/^'(?=\s*[=+\-@＝＋－＠])/, "")

export const isBad = <Line extends ImportLine | BadLine>(line: Line): line is Line & BadLine => "reason" in line
export const isGood = <Line extends ImportLine | BadLine>(line: Line): line is Line & ImportLine => !isBad(line)

export interface RejectedLine extends BadLine {
  readonly text: string
}

/** The file that receives all rejected lines of an import, and is kept if there are any. Default: none. */
export class RejectsFile extends Context.Reference<Effect.Success<ReturnType<typeof createRejectsFile>> | undefined>(
  "backoffice/csv/RejectsFile",
  { defaultValue: () => undefined },
) {}

/**
 * Creates a file for rejected lines that only its owner can read. Removes it with the scope unless it has lines and is complete.
 *
 * Its columns are `line`, `reason` and those of the import file, so that lines can be fixed and imported. Cells that a spreadsheet would run as
 * formulas get an apostrophe prefix, which an import removes.
 */
export const createRejectsFile = Effect.fnUntraced(function* (path: string) {
  const { append, keep } = yield* createPrivateFile(path)
  let hasLines = false
  return {
    write: Effect.fnUntraced(function* ({ text, delimiter }: Header, lines: ReadonlyArray<RejectedLine>) {
      if (lines.length === 0) return
      const disarm = disarmCells(delimiter)
      const head = hasLines ? [] : [["line", "reason", disarm(text)]]
      const rows = lines.map(({ number, reason, text }) => [number, `"${reason.replaceAll('"', '""')}"`, disarm(text)])
      yield* append([...head, ...rows].map((row) => `${row.join(delimiter)}\n`).join(""))
      hasLines = true
    }),
    /** Keeps the file after the scope. */
    complete: Effect.suspend(() => (hasLines ? keep : Effect.void)),
  }
})

/** Creates the function that disarms formulas in a line, which may be invalid CSV. */
const disarmCells = (delimiter: string) => {
  const blanks = delimiter === "\t" ? " *" : "[ \\t]*"
  const formulas = new RegExp(`(?:^|[${delimiter}])"?(?=${blanks}[=+\\-@＝＋－＠])`, "g")
  return (text: string): string =>
    text.replaceAll(formulas, (start, offset: number) =>
      // A delimiter within quotes starts no cell.
      text.slice(0, offset).split('"').length % 2 === 1 ? `${start}'` : start,
    )
}

/** The file has lines that can't be imported, and `--skip-bad` wasn't given. */
export class BadLines extends Schema.TaggedError<BadLines>()("BadLines", {
  imported: Schema.Int,
  alreadyThere: Schema.Int,
  badCount: Schema.Int,
  badLines: Schema.Array(Schema.Struct({ line: Schema.Int, reason: Schema.String })),
}) {
  override get message(): string {
    const lines = `${this.badCount} bad ${this.badCount === 1 ? "line" : "lines"}`
    return this.imported + this.alreadyThere === 0
      ? `${lines}; nothing was imported. Fix the file, or leave them out with --skip-bad.`
      : `${lines}; the import stopped there, with ${this.imported} imported. Fix the file, or leave them out with --skip-bad; the next run goes on where this one stopped.`
  }
}

export const MAX_REPORTED = 10_000

/** A file's bad lines: their number and the first 10,000. */
export interface BadLineReport {
  badCount: number
  badLines: Array<{ readonly line: number; readonly reason: string }>
}

/** Counts a file's lines, and finds the bad lines without the database. Passes the parsed lines to `use`. */
export const checkFile = Effect.fnUntraced(function* <A>(
  header: Header,
  parse: (line: ImportLine) => Result.Result<A, string>,
  use: (lines: ReadonlyArray<A>) => Effect.Effect<void> = () => Effect.void,
) {
  const bar = yield* (yield* TaskProgress).bar("Checking", header.size)
  const bad: BadLineReport = { badCount: 0, badLines: [] }
  let lines = 0
  yield* readLines(header, bar.advance).pipe(
    Stream.runForEachArray((batch) => {
      lines += batch.length
      const parsed: Array<A> = []
      for (const line of batch) {
        const result = isBad(line) ? Result.fail(line.reason) : parse(line)
        if (Result.isSuccess(result)) parsed.push(result.success)
        else addBadLine(bad, { number: line.number, reason: result.failure })
      }
      return use(parsed)
    }),
  )
  return { lines, bad }
}, Effect.scoped)

export const addBadLine = (report: BadLineReport, { number, reason }: BadLine): void => {
  report.badCount++
  if (report.badLines.length < MAX_REPORTED) report.badLines.push({ line: number, reason })
}
