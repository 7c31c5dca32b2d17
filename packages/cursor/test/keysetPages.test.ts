import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { sql as drizzleSql } from "drizzle-orm"
import { PgDialect } from "drizzle-orm/pg-core"
import fc from "fast-check"
import { Kysely, sql as kyselySql, PostgresDialect } from "kysely"
import { Pool } from "pg"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { builderKeyset } from "../src/builderKeyset.ts"
import { cursorCodec, type PageFrom, paginate } from "../src/index.ts"
import { type Dialect, type KeysetColumn, type KeysetValue, keyset, type Order } from "../src/keyset.ts"
import { postgresUrl } from "./postgresUrl.ts"

// Reads all pages of random rows in a random order, forwards and backwards, and compares them with a plain `order by`.

type Row = Readonly<Record<string, KeysetValue>>

const NAMES = ["word", "number", "big", "at", "flag"]
const rowsArbitrary = fc
  .array(
    fc.record({
      word: fc.option(fc.constantFrom("", "a", "B", "b", "é", "~n1", "'\"?$1")),
      number: fc.option(fc.constantFrom(-1.5, 0, 2, 1e300)),
      big: fc.option(fc.constantFrom(-(2n ** 63n), 9007199254740992n, 9007199254740993n, 2n ** 63n - 1n)),
      at: fc.option(fc.constantFrom("0001", "0009", "9999").map((micros) => `2026-11-21T02:45:29.12${micros}Z`)),
      flag: fc.option(fc.boolean()),
    }),
    { maxLength: 25 },
  )
  .map((rows) => rows.map((row, id) => ({ ...row, id })))
const directions = fc.constantFrom("asc" as const, "desc" as const)
const columnsArbitrary = fc
  .tuple(
    fc.shuffledSubarray(NAMES, { maxLength: 3 }),
    fc.array(fc.tuple(directions, fc.constantFrom("first", "last")), { minLength: 3, maxLength: 3 }),
    directions,
  )
  .map(([names, orders, last]): Subject["columns"] =>
    Object.fromEntries([
      ...names.map((name, i): [string, Order] => [name, `${orders[i]![0]} nulls ${orders[i]![1]}` as Order]),
      ["id", last] as [string, Order],
    ]),
  )

const Position = z.record(z.string(), z.union([z.string(), z.number(), z.bigint(), z.boolean(), z.date(), z.null()]))
const codec = cursorCodec({ schema: Position, key: "a key of at least thirty-two bytes", scope: "entries" })

/** Writes the condition and the order of a page. */
type Write = (
  columns: Readonly<Record<string, Order | KeysetColumn>>,
  from: PageFrom<Row>,
) => { readonly end: string; readonly values: ReadonlyArray<unknown> }

const text =
  (...[placeholder, dialect]: [placeholder: "?" | "$1" | "@p1", dialect?: Dialect]): Write =>
  (columns, from) => {
    const { where, orderBy, values } = keyset(columns, from, { placeholder, dialect })
    return { end: `where ${where} order by ${orderBy}`, values }
  }
const kysely: Write = (columns, from) => {
  const db = new Kysely({ dialect: new PostgresDialect({} as never) })
  const { where, orderBy } = builderKeyset(columns, from, { sql: kyselySql, dialect: "postgresql" })
  const query = kyselySql`where ${where} order by ${orderBy}`.compile(db)
  return { end: query.sql, values: query.parameters }
}
const drizzle: Write = (columns, from) => {
  const named = Object.entries(columns).map(([name, given]) => {
    const column = drizzleSql`${drizzleSql.identifier(name)}`
    return [name, typeof given === "string" ? { column, order: given } : { ...given, column }] as const
  })
  const { where, orderBy } = builderKeyset(Object.fromEntries(named), from, { sql: drizzleSql, dialect: "postgresql" })
  const query = new PgDialect().sqlToQuery(drizzleSql`where ${where} order by ${orderBy}`)
  return { end: query.sql, values: query.params }
}

interface Subject {
  /** Runs a statement on the table `entry`, with the driver's values. */
  readonly query: (end: string, values?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
  readonly write: Write
  readonly columns: Readonly<Record<string, Order>>
  readonly limit: number
  /** Whether times are cast from text. */
  readonly isCast?: boolean
}

async function readPage({ query, write, columns, limit, isCast }: Subject, from: PageFrom<Row>) {
  const typed = Object.entries(columns).map(
    ([name, order]) => [name, name === "at" && isCast ? { order, type: "timestamptz" } : order] as const,
  )
  const { end, values } = write(Object.fromEntries(typed), from)
  const rows = await query(`${end} limit ${limit + 1}`, values)
  const position = (row: Row) => Object.fromEntries(Object.keys(columns).map((name) => [name, row[name]!]))
  return paginate({ rows, limit, codec, position, from })
}

/** Reads the list to its end and back to its start, with each previous page on the way. */
async function expectAllRows(subject: Subject): Promise<void> {
  const order = Object.entries(subject.columns).map(([name, order]) => `${name} ${order}`)
  const expected = await subject.query(`order by ${order}`)

  let page = await readPage(subject, {})
  expect(page.previous_cursor).toBeNull()
  const forwards = [page.data]
  while (page.next_cursor !== null) {
    page = await readPage(subject, { after: codec.decode(page.next_cursor) })
    const back = await readPage(subject, { before: codec.decode(page.previous_cursor) })
    expect(back.data).toEqual(forwards.at(-1))
    expect(back.next_cursor).not.toBeNull()
    forwards.push(page.data)
  }
  expect(forwards.flat()).toEqual(expected)

  page = await readPage(subject, { before: "end" })
  expect(page.next_cursor).toBeNull()
  const backwards = [page.data]
  while (page.previous_cursor !== null) {
    page = await readPage(subject, { before: codec.decode(page.previous_cursor) })
    backwards.unshift(page.data)
  }
  expect(backwards.flat()).toEqual(expected)
}

const limits = fc.constantFrom(1, 2, 3, 7, 100)

describe("pages of random keys contain each row once, in order, in both directions,", () => {
  it.each<[string, Write]>([
    ["SQLite", text("?")],
    ["SQLite, which sorts nulls like MySQL", text("?", "mysql")],
    ["SQLite, which sorts nulls like SQL Server", text("@p1")],
  ])("in %s", async (_, write) => {
    await fc.assert(
      fc.asyncProperty(rowsArbitrary, columnsArbitrary, limits, async (rows, columns, limit) => {
        const database = new DatabaseSync(":memory:")
        database.exec("create table entry (word text, number real, big integer, at text, flag integer, id integer)")
        const insert = database.prepare("insert into entry values (?, ?, ?, ?, ?, ?)")
        for (const { word, number, big, at, flag, id } of rows) {
          insert.run(word, number, big, at, flag === null ? null : Number(flag), id)
        }
        const query: Subject["query"] = async (end, values = []) => {
          const statement = database.prepare(`select * from entry ${end}`)
          statement.setReadBigInts(true)
          const named = Object.fromEntries(values.map((value, i) => [`p${i + 1}`, value as SQLInputValue]))
          const rows = end.includes("@p") ? statement.all(named) : statement.all(...(values as SQLInputValue[]))
          return rows.map((row) => ({ ...row }) as Row)
        }
        await expectAllRows({ query, write, columns, limit })
        database.close()
      }),
    )
  })

  /** The statement contains the rows as JSON, so that a run leaves no table. */
  const selectFrom = (rows: ReadonlyArray<object>) => {
    const json = JSON.stringify(rows, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))
    return `select word, number, big, at::text, flag, id from
      jsonb_to_recordset('${json.replaceAll("'", "''")}') as entry(word text, number float8, big bigint, at timestamptz, flag bool, id int)`
  }

  describe("in PostgreSQL", () => {
    let pool: Pool
    let sql: ReturnType<typeof postgres>
    beforeAll(async () => {
      const url = await postgresUrl()
      pool = new Pool({ connectionString: url, max: 1 })
      sql = postgres(url, { max: 1, types: { bigint: postgres.BigInt } })
    })
    afterAll(async () => {
      await pool.end()
      await sql.end()
    })

    interface Driver {
      readonly name: string
      readonly run: (statement: string, values?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
      readonly isCast: boolean
    }
    const drivers: ReadonlyArray<Driver> = [
      {
        name: "pg",
        run: async (statement, values = []) => (await pool.query<Row>(statement, [...values])).rows,
        isCast: false,
      },
      // The driver converts a text parameter for a time to a Date.
      {
        name: "postgres.js",
        run: async (statement, values = []) => [...(await sql.unsafe(statement, [...values] as never[]))] as Row[],
        isCast: true,
      },
    ]
    const writers = { SQL: text("$1"), Kysely: kysely, Drizzle: drizzle }
    const driversWithWriters = drivers.flatMap((driver) =>
      Object.entries(writers).map(([builder, write]) => ({ ...driver, builder, write })),
    )
    it.each(driversWithWriters)("with $name and $builder", async ({ run, builder, write, isCast }) => {
      await fc.assert(
        fc.asyncProperty(rowsArbitrary, columnsArbitrary, limits, async (rows, columns, limit) => {
          const query: Subject["query"] = (end, values) => run(`${selectFrom(rows)} ${end}`, values)
          await expectAllRows({ query, write, columns, limit, isCast })
        }),
        // They share the code of the clauses.
        { numRuns: builder === "SQL" ? 100 : 20 },
      )
    })
    it.each(drivers)("by a Date, with $name, for times of milliseconds", async ({ run, isCast }) => {
      const times = Array.from({ length: 7 }, (_, i) => ({ at: `2026-11-21T02:45:29.00${i % 3}Z`, id: i }))
      const select = `select * from jsonb_to_recordset('${JSON.stringify(times)}') as entry (at timestamptz, id int)`
      const query: Subject["query"] = (end, values) => run(`${select} ${end}`, values)
      for (const at of ["asc", "desc", "desc nulls last"] as const) {
        await expectAllRows({ query, columns: { at, id: "asc" }, limit: 2, write: text("$1"), isCast })
        await expectAllRows({ query, columns: { at, id: "asc" }, limit: 2, write: text("$1") })
      }
    })
  })
})
