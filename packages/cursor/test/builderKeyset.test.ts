import { sql as drizzleSql } from "drizzle-orm"
import { integer, pgTable, text, timestamp } from "drizzle-orm/pg-core"
import { drizzle } from "drizzle-orm/postgres-js"
import { Kysely, MysqlDialect, PostgresDialect, sql } from "kysely"
import { Pool } from "pg"
import postgres from "postgres"
import { afterAll, beforeAll, expect, it } from "vitest"
import { builderKeyset } from "../src/builderKeyset.ts"
import { postgresUrl } from "./postgresUrl.ts"

// keysetPages.test.ts reads random pages with both builders. These queries have computed columns, quoted names and encoded times.

const dueAt = new Date("2026-12-01T00:00:00.123Z")
const orders = { word: "asc", dueAt: "desc nulls last", id: "desc" } as const
const from = { after: { word: "ada", dueAt, id: 3 } }
const CREATE = `create temporary table invoices (name text not null, "dueAt" timestamptz(3), id int not null);
  insert into invoices values ('Ada', null, 1), ('ada', '${dueAt.toISOString()}', 2), ('ADA', '${dueAt.toISOString()}', 3),
    ('ada', '2027-01-01', 4), ('Bob', null, 5)`
const ROWS = [
  { id: 2, dueAt, word: "ada" },
  { id: 1, dueAt: null, word: "ada" },
  { id: 5, dueAt: null, word: "bob" },
]

let pool: Pool
let client: ReturnType<typeof postgres>
beforeAll(async () => {
  const url = await postgresUrl()
  pool = new Pool({ connectionString: url, max: 1 })
  client = postgres(url, { max: 1 })
  await Promise.all([pool.query(CREATE), client.unsafe(CREATE)])
})
afterAll(() => Promise.all([pool.end(), client.end()]))

it("a Kysely query reads a page of a computed column, and quotes names for its database", async () => {
  const queryOf = (dialect: PostgresDialect | MysqlDialect, name: "postgresql" | "mysql") => {
    const db = new Kysely<{ invoices: { name: string; dueAt: Date | null; id: number } }>({ dialect })
    const word = sql<string>`lower(${sql.ref("name")})`
    const columns = {
      word: { column: word, order: orders.word },
      dueAt: { column: "invoices.dueAt", order: orders.dueAt },
      id: orders.id,
    }
    const { where, orderBy } = builderKeyset(columns, from, { sql, dialect: name })
    return db
      .selectFrom("invoices")
      .select(["id", "dueAt", word.as("word")])
      .where(where)
      .orderBy(orderBy)
  }
  expect(await queryOf(new PostgresDialect({ pool }), "postgresql").execute()).toEqual(ROWS)
  expect(queryOf(new MysqlDialect({} as never), "mysql").compile()).toMatchObject({
    sql: expect.stringMatching(/ where \(lower\(`name`\) >= \? and .* or `invoices`\.`dueAt` is null or /),
    parameters: ["ada", "ada", "ada", dueAt, dueAt, 3],
  })
})

it("a Drizzle query reads a page of a computed column, and encodes times as its columns do", async () => {
  const invoices = pgTable("invoices", {
    name: text().notNull(),
    dueAt: timestamp({ withTimezone: true, precision: 3 }),
    id: integer().notNull(),
  })
  const word = drizzleSql<string>`lower(${invoices.name})`
  const columns = {
    word: { column: word, order: orders.word },
    dueAt: { column: invoices.dueAt, order: orders.dueAt },
    id: { column: invoices.id, order: orders.id },
  }
  const { where, orderBy } = builderKeyset(columns, from, { sql: drizzleSql, dialect: "postgresql" })
  const query = drizzle(client).select({ id: invoices.id, dueAt: invoices.dueAt, word }).from(invoices)
  expect(await query.where(where).orderBy(orderBy)).toEqual(ROWS)
  const unnamed = () => builderKeyset({ id: "asc" }, null, { sql: drizzleSql, dialect: "postgresql" })
  expect(unnamed).toThrow(new TypeError("id must be a column of the query builder"))
})
