import { DescribedError } from "@outreach/domain/DescribedError"
import { Effect, FileSystem, Record, Stream } from "effect"

/** A file that can't be imported. The reason never contains data of recipients. */
export class UnusableFile extends DescribedError("UnusableFile", "{file} cannot be imported: {reason}.") {}

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252"

/** The names of the delimiters. */
export const DELIMITERS = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe" } as const
export type Delimiter = keyof typeof DELIMITERS

/** A row of a delimited file (RFC 4180, or with semicolons, tabs or pipes). */
export interface Row {
  /** The number of the row's first line, counted from 1. */
  readonly number: number
  /** The original text of the row, without its line end. */
  readonly text: string
  /** Undefined if the row has an unpaired quote. */
  readonly fields: ReadonlyArray<string> | undefined
}

const MAX_ROW_LENGTH = 65_536

export interface RowOptions {
  readonly encoding: Encoding
  readonly delimiter: Delimiter
  /** Reports whether the fields make a row. If a row of several lines is incomplete, its first line has an unpaired quote. */
  readonly isWhole: (fields: ReadonlyArray<string>) => boolean
  readonly onBytes?: ((bytes: number) => Effect.Effect<void>) | undefined
}

/**
 * Reads the rows of a delimited file, without those that contain only delimiters or spaces, as a stream whose memory does not grow with the file.
 *
 * Accepts a byte order mark, every kind of line end, and line ends in quoted fields. Trims the spaces around a field.
 * An unpaired quote makes only its own line bad.
 */
export const readRows = (
  file: string,
  options: RowOptions,
): Stream.Stream<Row, UnusableFile, FileSystem.FileSystem> => {
  const { encoding, onBytes = () => Effect.void } = options
  return Stream.unwrap(Effect.map(FileSystem.FileSystem, ({ stream }) => stream(file))).pipe(
    Stream.mapError(() => new UnusableFile({ file, reason: "it cannot be read" })),
    Stream.tap((bytes) => onBytes(bytes.length)),
    Stream.decodeText({ encoding }),
    Stream.concat(Stream.succeed(END)),
    Stream.mapAccumEffect(
      (): Unread => ({ text: "", number: 1, isLast: false }),
      ({ text, number }, piece) =>
        takeRows(file, { text: text + (piece ?? ""), number, isLast: piece === END }, options),
    ),
  )
}

/** Marks the end of the stream, after the last chunk of the file. */
const END = undefined

/** The text after the last complete row, the number of its first line, and whether the file ends with it. */
interface Unread {
  readonly text: string
  readonly number: number
  readonly isLast: boolean
}

/** Splits the complete rows off the start of a text. */
const takeRows = (
  file: string,
  unread: Unread,
  options: RowOptions,
): Effect.Effect<readonly [Unread, ReadonlyArray<Row>], UnusableFile> => {
  const { text, isLast } = unread
  const rows: Array<Row> = []
  let { number } = unread
  let start = 0
  while (start < text.length) {
    const row = findRow(text, start, options)
    // A carriage return at the end may be half of a line end, and the next chunk may close a quote.
    const isCut = !isLast && (row.end >= text.length - 1 || row.fields === undefined)
    if (isCut && text.length - start <= MAX_ROW_LENGTH + 1) break
    if (row.end - start > MAX_ROW_LENGTH) {
      return Effect.fail(new UnusableFile({ file, reason: `line ${number} is longer than 64 KiB` }))
    }
    const rowText = text.slice(start, row.end)
    if (row.fields?.every((field) => field === "") !== true) rows.push({ number, text: rowText, fields: row.fields })
    number += 1 + (rowText.match(LINE_END)?.length ?? 0)
    start = row.end + (text.startsWith("\r\n", row.end) ? 2 : 1)
  }
  return Effect.succeed([{ text: text.slice(start), number, isLast }, rows])
}

const LINE_END = /\r\n|\n|\r/g
const LINE_REST = /[^\r\n]*/y

const fieldPattern = (delimiter: Delimiter): RegExp => {
  const [space, end] = [delimiter === "\t" ? " " : " \t", `${delimiter}\r\n`]
  return new RegExp(
    `[${space}]*(?:"([^"]*(?:""[^"]*)*)"[${space}]*|(?:[^"${end}${space}][^${end}]*)?)(?=[${end}]|$)`,
    "y",
  )
}
const FIELDS = Record.map(DELIMITERS, (_, delimiter) => fieldPattern(delimiter))

/** Finds the row at an index; only its first line if its quotes don't pair. */
const findRow = (text: string, start: number, { delimiter, isWhole }: RowOptions) => {
  LINE_REST.lastIndex = start
  const lineEnd = start + LINE_REST.exec(text)![0].length
  const pattern = FIELDS[delimiter]
  const fields: Array<string> = []
  let end = start - 1
  do {
    pattern.lastIndex = end + 1
    const match = pattern.exec(text)
    if (match === null) return { end: lineEnd, fields: undefined }
    fields.push(match[1]?.replaceAll('""', '"') ?? match[0].trim())
    end = pattern.lastIndex
  } while (text[end] === delimiter)
  const isRow = end === lineEnd || (end - start <= MAX_ROW_LENGTH && isWhole(fields))
  return isRow ? { end, fields } : { end: lineEnd, fields: undefined }
}
