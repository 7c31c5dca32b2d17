import { csvRow } from "@outreach/backoffice/csv/csvRow"
import { UnusableFile } from "@outreach/backoffice/csv/UnusableFile"
import { Effect, FileSystem, Stream } from "effect"

/** In bytes. A whole value is held in memory. */
const MAX_SIZE = 64 * 1024 * 1024

/**
 * Writes the objects of a JSON file as CSV to a temporary file, in a folder that only its owner can read, and returns its path. A file of another
 * kind stays as it is.
 */
export const jsonAsCsv = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const unusable = (reason: string) => new UnusableFile({ file: path, reason })
  const head = yield* files.stream(path, { bytesToRead: 64 }).pipe(
    Stream.decodeText,
    Stream.mkString,
    Effect.orElseSucceed(() => ""),
  )
  if (!/^(?:\uFEFF)?\s*[[{]/.test(head)) return path
  const { size } = yield* Effect.orDie(files.stat(path))
  if (Number(size) > MAX_SIZE) {
    return yield* unusable(
      `it is JSON of more than ${MAX_SIZE / 1024 / 1024} MiB; make it CSV, for example with jq -r and @csv`,
    )
  }
  const text = yield* Effect.mapError(files.readFileString(path), () => unusable("it cannot be read"))
  const value = yield* Effect.try({
    try: (): unknown => JSON.parse(text.replace(/^\uFEFF/, "")),
    catch: () => unusable("it begins as JSON, and is none"),
  })
  const rows = findRows(value)
  if (rows.length === 0) return yield* unusable("it is JSON without a list of objects")
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = [columns, ...rows.map((row) => columns.map((column) => toCell(row[column])))].map(csvRow)
  const csv = yield* Effect.orDie(files.makeTempFileScoped({ prefix: "suppressions-" }))
  yield* Effect.orDie(files.writeFileString(csv, lines.join("")))
  return csv
})

type Row = Readonly<Record<string, unknown>>

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value)

/** Finds the first list of objects, however deep it stands. */
const findRows = (value: unknown): ReadonlyArray<Row> => {
  if (Array.isArray(value)) return value.filter(isRow)
  return (
    (isRow(value) &&
      Object.values(value)
        .map(findRows)
        .find(({ length }) => length > 0)) ||
    []
  )
}

const toCell = (value: unknown): string | null =>
  ["string", "number", "boolean"].includes(typeof value) ? String(value) : null
