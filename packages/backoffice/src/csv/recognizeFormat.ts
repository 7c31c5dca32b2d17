import { Effect, FileSystem, Result, Stream, Struct } from "effect"
import { DELIMITERS, type Delimiter, type Encoding, type Row, readRows, UnusableFile } from "./readRows.ts"

/** The format of a file with rows. */
export interface FileFormat {
  readonly encoding: Encoding
  readonly delimiter: Delimiter
  /** The first rows, including the header. */
  readonly sample: ReadonlyArray<Row>
}

const SAMPLE_SIZE = 100

/** Detects the encoding of a file, and the delimiter by its first rows. Fails for other kinds of files, such as workbooks. */
export const recognizeFormat = Effect.fnUntraced(function* (file: string) {
  const encoding = yield* recognizeEncoding(file)
  const samples = yield* Effect.forEach(Struct.keys(DELIMITERS), (delimiter) =>
    readRows(file, { encoding, delimiter, isWhole: () => true }).pipe(
      Stream.take(SAMPLE_SIZE),
      Stream.runCollect,
      Effect.map((sample) => ({ encoding, delimiter, sample })),
    ),
  )
  return samples.reduce((best, each) => (isPlainer(each, best) ? each : best))
})

export const describeFormat = ({ encoding, delimiter }: Pick<FileFormat, "encoding" | "delimiter">): string =>
  `${encoding === "windows-1252" ? "Windows-1252" : encoding.toUpperCase()}, ${DELIMITERS[delimiter]}-separated`

/** Reports whether a delimiter fits a sample better: more rows have as many fields as the first one, or as many rows with more fields. */
const isPlainer = (one: FileFormat, other: FileFormat): boolean => {
  const [width, otherWidth] = [widthOf(one), widthOf(other)]
  const more = rowsOfWidth(one, width) - (otherWidth > 1 ? rowsOfWidth(other, otherWidth) : 0)
  return width > 1 && (more > 0 || (more === 0 && width > otherWidth))
}
const widthOf = ({ sample }: FileFormat): number => sample[0]?.fields?.length ?? 0
const rowsOfWidth = ({ sample }: FileFormat, width: number): number =>
  sample.filter(({ fields }) => fields?.length === width).length

/** Returns the encoding of the byte order mark. Without one, it is UTF-8 if all bytes are valid, otherwise Windows-1252. */
const recognizeEncoding = Effect.fnUntraced(function* (file: string) {
  const { stream } = yield* FileSystem.FileSystem
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const isValid = (bytes?: Uint8Array): boolean =>
    Result.isSuccess(Result.try(() => decoder.decode(bytes, { stream: bytes !== undefined })))
  let isFirst = true
  let encoding: Encoding | undefined
  let isOtherKind = false
  yield* stream(file).pipe(
    Stream.takeUntil((bytes) => {
      if (isFirst) {
        const head = Buffer.from(bytes.subarray(0, 8)).toString("latin1")
        isOtherKind = OTHER_KINDS.some((start) => head.startsWith(start))
        encoding = MARKS.find(([mark]) => head.startsWith(mark))?.[1]
        isFirst = false
      }
      if (encoding === undefined && !isValid(bytes)) encoding = "windows-1252"
      return encoding !== undefined || isOtherKind
    }),
    Stream.runDrain,
    Effect.mapError(() => new UnusableFile({ file, reason: "it cannot be read" })),
  )
  if (isOtherKind) {
    const reason = "it is a workbook, an archive or a PDF document; save the list as “CSV UTF-8”, and import that file"
    return yield* new UnusableFile({ file, reason })
  }
  return encoding ?? (isValid() ? "utf-8" : "windows-1252")
})

const MARKS: ReadonlyArray<readonly [mark: string, Encoding]> = [
  ["\xEF\xBB\xBF", "utf-8"],
  ["\xFF\xFE", "utf-16le"],
  ["\xFE\xFF", "utf-16be"],
]

/** The first bytes of ZIP (also .xlsx), .xls, PDF and gzip. */
const OTHER_KINDS = ["PK\x03\x04", "\xD0\xCF\x11\xE0", "%PDF-", "\x1F\x8B"]
