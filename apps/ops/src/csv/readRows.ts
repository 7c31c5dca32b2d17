import * as NodeStream from "@effect/platform-node/NodeStream"
import { type Options, parse } from "csv-parse"
import { Effect, FileSystem, Stream } from "effect"
import { UnusableFile } from "./UnusableFile.ts"

/** A row of a CSV file (RFC 4180). */
export interface Row {
  /** The line that it begins on, counted from 1. */
  readonly number: number
  readonly fields: ReadonlyArray<string>
}

const LONGEST_ROW = 65_536

/**
 * Reads the rows of a CSV file that are not blank, as a stream whose memory does not grow with the file.
 *
 * Takes a byte order mark, every kind of line end, and quoted fields that hold line ends; drops the spaces around a field.
 * `onBytes` hears of each piece of the file that was read.
 */
export const readRows = (file: string, onBytes: (bytes: number) => Effect.Effect<void>) =>
  Stream.suspend(() => {
    let lines = 0
    const options: Options<Row, string[]> = {
      bom: true,
      trim: true,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      // A quote inside a plain field is a character like any other, so that it costs one bad line and not the whole file.
      relax_quotes: true,
      max_record_size: LONGEST_ROW,
      // The parser's own count of lines takes a CRLF inside quotes for two.
      on_record: (fields) => {
        const number = lines + 1
        lines = fields.reduce((count, field) => count + (field.match(/\r\n|\r|\n/g)?.length ?? 0), number)
        return fields.length === 1 && fields[0] === "" ? null : { number, fields }
      },
    }
    return Stream.unwrap(Effect.map(FileSystem.FileSystem, ({ stream }) => stream(file))).pipe(
      Stream.mapError(() => new UnusableFile({ file, reason: "it cannot be read" })),
      Stream.tap((bytes) => onBytes(bytes.length)),
      NodeStream.pipeThroughDuplex<Row, UnusableFile>({
        evaluate: () => parse(options as object),
        onError: () =>
          new UnusableFile({
            file,
            reason: `line ${lines + 1} has quotes that do not pair, or is longer than 64 KiB`,
          }),
      }),
    )
  })
