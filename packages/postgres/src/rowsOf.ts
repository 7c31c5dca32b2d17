import { Effect, Schema } from "effect"
import { Statement } from "effect/sql"

/**
 * Derives from a schema what a statement needs to read its rows: the select list, and the decoder.
 *
 * A field is kept in the column of its name, or computed by the expression that `computed` gives for it.
 *
 * @example
 * const programs = rowsOf(Program)
 * yield* sql`select ${programs.columns} from programs where id = ${id}`.pipe(programs.decode)
 */
export const rowsOf = <Fields extends Schema.Struct.Fields>(
  row: Schema.Struct<Fields>,
  computed: { readonly [Name in keyof Fields]?: string } = {},
) => {
  const names = Object.keys(row.fields)
  const list = (prefix: string) => {
    const columns = names.map((name) => `${computed[name] ?? `${prefix}${columnOf(name)}`} as "${name}"`)
    return Statement.fragment([Statement.literal(columns.join(", "))])
  }
  return {
    /** The select list, each column with the name of its field. */
    columns: list(""),
    /** The same where several tables are joined. */
    columnsOf: (table: string): Statement.Fragment => list(`${table}.`),
    decode: decodeRows(row.fields),
    /**
     * Makes an entity of the values of `columns`, without decoding them, for pages and batches: a row takes 20 nanoseconds instead of 1.3 microseconds,
     * which is a quarter of the time of a page of 100. `rowsOf.test.ts` compares the schema with the table instead.
     * The function is compiled, because a loop over the names takes five times as long.
     */
    fromValues: new Function("values", `return { ${names.map((name, i) => `${name}: values[${i}]`).join(", ")} }`) as (
      values: ReadonlyArray<unknown>,
    ) => Schema.Struct<Fields>["Type"],
  }
}

/**
 * Creates the decoder of a statement's rows from their fields. A row that is not as described is a defect that names its columns and not their values.
 *
 * @example
 * const decodeIds = decodeRows({ id: CampaignId })
 * const rows = yield* sql`select id from campaigns`.pipe(decodeIds)
 */
export const decodeRows = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  type Row = Schema.Struct<Fields>["Type"]
  let decode: ((rows: unknown) => Effect.Effect<ReadonlyArray<Row>, Schema.SchemaError>) | undefined
  return <E, R>(rows: Effect.Effect<ReadonlyArray<object>, E, R>): Effect.Effect<ReadonlyArray<Row>, E, R> =>
    Effect.flatMap(rows, (rows) => {
      // Compiled when it is used, because most commands of `ops` read few tables.
      decode ??= Schema.decodeUnknownEffect(Schema.Array(Schema.Struct(fields) as unknown as Schema.Codec<Row>))
      return Effect.orDie(decode(rows))
    })
}

/** Creates the decoder of a statement that always returns one row, such as a sum of several columns; no row is a defect. */
export const decodeRow = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const decode = decodeRows(fields)
  return <E, R>(rows: Effect.Effect<ReadonlyArray<object>, E, R>) => only(decode(rows))
}

/** Creates the decoder of a statement with one column, such as `{ id: CampaignId }`; returns its values. */
export const decodeColumn = <A>(column: Readonly<Record<string, Schema.Codec<A, unknown>>>) => {
  const decode = decodeRows(column)
  return <E, R>(rows: Effect.Effect<ReadonlyArray<object>, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> =>
    Effect.map(decode(rows), (decoded) => decoded.flatMap((row) => Object.values(row)))
}

/** Creates the decoder of a statement with one column that always returns one row, such as a count; no row is a defect. */
export const decodeValue = <A>(column: Readonly<Record<string, Schema.Codec<A, unknown>>>) => {
  const decode = decodeColumn(column)
  return <E, R>(rows: Effect.Effect<ReadonlyArray<object>, E, R>) => only(decode(rows))
}

/** Takes the row of a statement that always returns one; no row is a defect. */
export const only = <A, E, R>(rows: Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(rows, (found) =>
    found.length > 0
      ? Effect.succeed(found[0] as A)
      : Effect.die(new Error("A statement that always returns a row returned none")),
  )

/** Takes the first row of a statement; undefined without one. */
export const first = <A, E, R>(rows: Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<A | undefined, E, R> =>
  Effect.map(rows, (found) => found[0])

/**
 * Takes the first row of a statement, or fails.
 *
 * @example
 * yield* sql`select ${columns} from programs where id = ${programId}`.pipe(decode, firstOr(ProgramNotFound, { programId }))
 */
export const firstOr =
  <Props, Failure>(Absent: new (props: Props) => Failure, props: Props) =>
  <A, E, R>(rows: Effect.Effect<ReadonlyArray<A>, E, R>): Effect.Effect<A, E | Failure, R> =>
    Effect.flatMap(rows, (found) => (found.length > 0 ? Effect.succeed(found[0] as A) : Effect.fail(new Absent(props))))

/** Returns the name of a field's column: `createdAt` is kept in `created_at`. */
export const columnOf = (name: string): string => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
