import { Effect } from "effect"
import { SqlClient, type SqlError, Statement } from "effect/sql"

/** A value in a statement. An effect isn't one, so that a statement inside another one doesn't compile. */
type Value =
  | (string | number | bigint | boolean | null | undefined | Uint8Array | ReadonlyArray<unknown>)
  | (Statement.Fragment | Statement.Identifier)

type Query<A> = Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>

const run = <Row extends object>(strings: TemplateStringsArray, values: ReadonlyArray<Value>) =>
  SqlClient.SqlClient.use((client) => client<Row>(strings, ...values))

function tag<Row extends object = Record<string, unknown>>(
  strings: TemplateStringsArray,
  ...values: ReadonlyArray<Value>
): Query<ReadonlyArray<Row>>
function tag(name: string): Statement.Identifier
function tag(first: TemplateStringsArray | string, ...values: ReadonlyArray<Value>) {
  return typeof first === "string" ? Statement.identifier(first) : run(first, values)
}

/** Runs a statement of a test, and returns its rows. `sql(name)` is an identifier, and `sql.unsafe` runs a text. */
export const sql = Object.assign(tag, {
  literal: (text: string): Statement.Fragment => Statement.fragment([Statement.literal(text)]),
  unsafe: <Row extends object = Record<string, unknown>>(text: string): Query<ReadonlyArray<Row>> =>
    SqlClient.SqlClient.use((client) => client.unsafe<Row>(text)),
})

/** Creates a part of a statement. */
export const fragment = (strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Statement.Fragment =>
  Statement.fragment(
    strings.flatMap((text, i): ReadonlyArray<Statement.Segment> => {
      const each = values[i]
      const parts = Statement.isFragment(each) ? each.segments : [Statement.parameter(each)]
      return i < values.length ? [Statement.literal(text), ...parts] : [Statement.literal(text)]
    }),
  )

/** Runs a statement with one column, and returns its values. */
export const column = <A>(strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Query<ReadonlyArray<A>> =>
  Effect.map(run<Record<string, A>>(strings, values), (rows) => rows.flatMap((row) => Object.values(row)))

/** Runs a statement with one column and one row, and returns the value. */
export const value = <A>(strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Query<A> =>
  Effect.map(column<A>(strings, ...values), ([first]) => first as A)
