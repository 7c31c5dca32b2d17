import { isAscii } from "node:buffer"
import { Effect, FileSystem, Stream } from "effect"
import { DELIMITERS, type Delimiter, type Encoding, type Row, readRows } from "./readRows.ts"
import { UnusableFile } from "./UnusableFile.ts"

/** How a file of rows is written. Nothing of it is asked for: a line `sep=;` above the header decides where the delimiter is not plain. */
export interface FileFormat {
  readonly encoding: Encoding
  readonly delimiter: Delimiter
  /** The first rows, from the header on. */
  readonly sample: ReadonlyArray<Row>
}

const SAMPLE_SIZE = 100

/** Recognises the encoding of a file by all of its bytes, and the delimiter by its first rows. Fails for a file of another kind, such as a workbook. */
export const recognizeFormat = Effect.fnUntraced(function* (file: string) {
  const encoding = yield* recognizeEncoding(file)
  const samples = yield* Effect.forEach(DELIMITERS, (delimiter) =>
    readRows(file, { encoding, delimiter, isWhole: () => true }).pipe(
      Stream.take(SAMPLE_SIZE),
      Stream.runCollect,
      Effect.map((sample) => ({ encoding, delimiter, sample })),
    ),
  )
  const named = /^"?sep=([,;\t|])"?$/i.exec(samples[0]!.sample[0]?.text.trimStart() ?? "")?.[1]
  if (named === undefined) return samples.reduce((best, each) => (isPlainer(each, best) ? each : best))
  const { sample, ...format } = samples.find(({ delimiter }) => delimiter === named)!
  return { ...format, sample: sample.slice(1) }
})

const DELIMITER_NAMES = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe" } as const satisfies Record<
  Delimiter,
  string
>

export const describeFormat = ({ encoding, delimiter }: Pick<FileFormat, "encoding" | "delimiter">): string =>
  `${encoding === "windows-1252" ? "Windows-1252" : encoding.toUpperCase()}, ${DELIMITER_NAMES[delimiter]}-separated`

/** Reports whether more rows of a sample have as many fields as the first, or as many rows and the first row more fields. */
const isPlainer = (one: FileFormat, other: FileFormat): boolean => {
  const [width, otherWidth] = [widthOf(one), widthOf(other)]
  const more = rowsOfWidth(one, width) - (otherWidth > 1 ? rowsOfWidth(other, otherWidth) : 0)
  return width > 1 && (more > 0 || (more === 0 && width > otherWidth))
}
const widthOf = ({ sample }: FileFormat): number => sample[0]?.fields?.length ?? 0
const rowsOfWidth = ({ sample }: FileFormat, width: number): number =>
  sample.filter(({ fields }) => fields?.length === width).length

const recognizeEncoding = Effect.fnUntraced(function* (file: string) {
  const { stream } = yield* FileSystem.FileSystem
  let head: string | undefined
  let wide: Encoding | undefined
  let cut = ""
  let [sequences, strays] = [0, 0]
  const count = (bytes: Uint8Array): void => {
    if (cut === "" && isAscii(bytes)) return
    const text = cut + latin1(bytes)
    cut = CUT_SEQUENCE.exec(text)?.[0] ?? ""
    for (const [found] of text.slice(0, text.length - cut.length).matchAll(SEQUENCE_OR_STRAY)) {
      if (found.length > 1) sequences++
      else strays++
    }
  }
  yield* stream(file).pipe(
    Stream.takeUntil((bytes) => {
      if (head === undefined) {
        head = latin1(bytes)
        wide = wideEncodingOf(bytes)
      }
      count(bytes)
      return wide !== undefined
    }),
    Stream.runDrain,
    Effect.mapError(() => new UnusableFile({ file, reason: "it cannot be read" })),
  )
  const kind = otherKindOf(head ?? "")
  if (kind !== undefined) return yield* new UnusableFile({ file, reason: `it is ${kind}` })
  // A line of the lesser kind is bad, and named.
  return wide ?? (strays + cut.length > sequences ? "windows-1252" : "utf-8")
})

const latin1 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1")

/** A character of several bytes in UTF-8, with one byte as one character, or a byte that belongs to none. */
const SEQUENCE_OR_STRAY = /[\xC2-\xDF][\x80-\xBF]|[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF4][\x80-\xBF]{3}|[\x80-\xFF]/g
const CUT_SEQUENCE = /(?:[\xC2-\xF4]|[\xE0-\xF4][\x80-\xBF]|[\xF0-\xF4][\x80-\xBF]{2})$/

/** Recognises UTF-16 by its byte order mark, or by the zeros in more than half of its characters. */
const wideEncodingOf = (bytes: Uint8Array): Encoding | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  const zeros = [0, 0] as [number, number]
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) zeros[i % 2]!++
  const half = bytes.length / 4
  if (zeros[1] > half && zeros[0] < zeros[1] / 2) return "utf-16le"
  return zeros[0] > half && zeros[1] < zeros[0] / 2 ? "utf-16be" : undefined
}

/** Names a file that is not text, by how it begins. */
const otherKindOf = (head: string): string | undefined => {
  const save = "save it as “CSV UTF-8”, and import that file"
  if (head.startsWith("PK\u0003\u0004") && /\[Content_Types\]|xl\/|opendocument/.test(head))
    return `a workbook, such as Excel’s .xlsx; ${save}`
  if (/^\s*<(?:!doctype|html|\?xml|table)/i.test(head.replace("\xEF\xBB\xBF", "")))
    return `HTML or XML, whatever its name says; open it in a spreadsheet, and ${save}`
  return Object.entries({
    "PK\u0003\u0004": "a ZIP archive; unpack it first",
    "\xD0\xCF\u0011\xE0": `a workbook of the old kind (.xls); ${save}`,
    "%PDF-": "a PDF document; ask for the list as CSV",
    "\u001F\x8B": "a gzip archive; unpack it first",
  }).find(([beginning]) => head.startsWith(beginning))?.[1]
}
