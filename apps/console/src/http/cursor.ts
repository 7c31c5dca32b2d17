import { parseInput } from "@outreach/domain/parseInput"
import { textSchema } from "@outreach/domain/textSchema"
import { Result, type Schema } from "effect"

// biome-ignore lint/suspicious/noExplicitAny: a codec is not covariant.
type Fields = Readonly<Record<string, Schema.Codec<any, string>>>
type Values<F extends Fields> = { readonly [Name in keyof F]: F[Name]["Type"] }

/** The place in a list after which its next page begins. */
interface Cursor<F extends Fields> {
  /** Parses a cursor from the link to the next page. */
  readonly input: Schema.Codec<Values<F>, string>
  /** Returns the cursor of a row, as the link holds it. */
  readonly of: (row: Readonly<Record<keyof F, string | number>>) => string
}

/** Declares the cursor of a list by the fields that order it. Its text joins them by `~`, and the last may hold one. */
export const defineCursor = <const F extends Fields>(fields: F): Cursor<F> => {
  const names: ReadonlyArray<keyof F & string> = Object.keys(fields)
  return {
    input: textSchema("the place that a link to the next page names", (text) => {
      const parts = text.split("~")
      const texts = [...parts.slice(0, names.length - 1), parts.slice(names.length - 1).join("~")]
      const values = names.flatMap((name, i) => {
        const value = parseInput(fields[name]!)(texts[i] ?? "")
        return Result.isSuccess(value) ? [[name, value.success]] : []
      })
      return values.length === names.length ? (Object.fromEntries(values) as Values<F>) : undefined
    }),
    of: (row) => names.map((name) => String(row[name])).join("~"),
  }
}

/** Returns a page of a list of which one row more was read than the page holds, and the row after which the next page begins. */
export const pageOf = <Row>(
  found: ReadonlyArray<Row>,
  size: number,
): { readonly rows: ReadonlyArray<Row>; readonly last: Row | undefined } => ({
  rows: found.slice(0, size),
  last: found.length > size ? found[size - 1] : undefined,
})
