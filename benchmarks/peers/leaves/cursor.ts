import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { cursorCodec, cursorKeyRing, paginate } from "@outreach/cursor"
import { keyset } from "@outreach/cursor/keyset"
import { generateCursor } from "drizzle-cursor"
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { drizzle } from "drizzle-orm/sqlite-proxy"
import { jwtVerify, SignJWT } from "jose"
import { type CompiledQuery, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely"
import { base64UrlCodec, codecPipe, createPaginator, SqlitePaginationDialect, superJsonCodec } from "kysely-cursor"
import * as z from "zod"
import type { Comparison } from "./Comparison.ts"

const PAGE = "page of 20 after 100,000 rows in SQLite"
const ROUND_TRIP = "encode and decode a cursor"
const COUNT = "total count of 200,000 rows of a filter in SQLite"

const CHECKED = "typed positions, validated by a schema"
const AUTHENTIC = "rejects altered cursors"
const SCOPED = "bound to endpoint, caller and filters"
const EXPIRES = "optional expiry"
const KEYS = "key rotation"
const TYPES = "bigints and dates"
const STATEMENT = "SQL for composite keys and mixed directions"
const NULLABLE = "nullable columns"
const NULLS = "nulls first or last"
const COMPUTED = "computed columns"
const ROWS = "row comparison if an index supports it"
const PREVIOUS = "previous pages"
const STABLE = "no repeated or missing rows during changes"
const ANY = "any driver, no query builder"
const KYSELY = "with Kysely"
const DRIZZLE = "with Drizzle"
const DIALECTS = "MySQL and SQL Server"
const ENCRYPTED = "encrypted cursors"

interface Row {
  readonly id: number
  readonly created_at: string
  readonly customer: string
}
type Position = Pick<Row, "created_at" | "id">
const limit = 20
const database = new DatabaseSync(":memory:")
database.exec(`
  create table invoices (id integer primary key, created_at text not null, customer text not null);
  insert into invoices
    with recursive n(i) as (values (1) union all select i + 1 from n where i < 200000)
    select i, '2026-11-21T00:' || printf('%02d:%09.6fZ', i / 10000, i / 3 % 600 / 10.0), 'acme' from n;
  create index invoices_by_time on invoices (created_at, id)`)
const select = "select id, created_at, customer from invoices"
const read = (statement: string, ...values: SQLInputValue[]): Row[] =>
  database.prepare(statement).all(...values) as unknown as Row[]
const last = read(`${select} order by created_at desc, id desc limit 1 offset 99999`)[0]!
const position = ({ created_at, id }: Row): Position => ({ created_at, id })

const schema = z.object({ created_at: z.string(), id: z.number() })
const key = "a key of at least thirty-two bytes"
const secret = new TextEncoder().encode(key)
const ring = cursorKeyRing([{ key }])
/** Created for each request, because its scope depends on the request. */
const codecOf = () => cursorCodec({ schema, key: ring, scope: "invoices of acme" })
const cursor = codecOf().encode(last)

const byHand = {
  encode: (row: Row) => Buffer.from(JSON.stringify(position(row))).toString("base64url"),
  decode: (text: string) => JSON.parse(Buffer.from(text, "base64url").toString()) as Position,
}
const byHandCursor = byHand.encode(last)
const pageAfter = ({ created_at, id }: Position) =>
  read(`${select} where (created_at, id) < (?, ?) order by created_at desc, id desc limit ?`, created_at, id, limit + 1)

const sign = (row: Row) =>
  new SignJWT(position(row))
    .setProtectedHeader({ alg: "HS256" })
    .setAudience("invoices of acme")
    .setExpirationTime("1d")
    .sign(secret)
const verify = async (token: string) => {
  const { payload } = await jwtVerify(token, secret, { audience: "invoices of acme", algorithms: ["HS256"] })
  return schema.parse(payload)
}
const token = await sign(last)

class SqliteDriver extends DummyDriver {
  override acquireConnection(): ReturnType<DummyDriver["acquireConnection"]> {
    return Promise.resolve({
      executeQuery: ({ sql, parameters }: CompiledQuery) =>
        Promise.resolve({ rows: read(sql, ...(parameters as SQLInputValue[])) as never[] }),
      async *streamQuery() {},
    })
  }
}
const kysely = new Kysely<{ invoices: Row }>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})
const kyselyCodec = codecPipe(superJsonCodec, base64UrlCodec)
const paginator = createPaginator({ dialect: SqlitePaginationDialect, cursorCodec: kyselyCodec })
const sorts = [
  { col: "invoices.created_at", dir: "desc", output: "created_at" },
  { col: "invoices.id", dir: "desc", output: "id" },
] as const
const query = kysely.selectFrom("invoices").select(["id", "created_at", "customer"])
const kyselyCursor = (await paginator.paginate({ query: query.where("invoices.id", "=", last.id), sorts, limit: 1 }))
  .endCursor!

const invoices = sqliteTable("invoices", {
  id: integer().primaryKey(),
  created_at: text().notNull(),
  customer: text().notNull(),
})
const drizzleDb = drizzle(async (statement, values) => ({
  rows: read(statement, ...(values as SQLInputValue[])).map((row) => Object.values(row)),
}))
// Its declarations are CommonJS, so its types differ from those of the ES modules.
const drizzleCursor = generateCursor({
  cursors: [{ order: "DESC", key: "created_at", schema: invoices.created_at as never }],
  primaryCursor: { order: "DESC", key: "id", schema: invoices.id as never },
})
const drizzleToken = drizzleCursor.serialize({ ...last })

/** By candidate: each reads a page, and creates the cursor of the next page. */
const pages = {
  cursor: () => {
    const codec = codecOf()
    const from = { after: codec.decode(cursor) }
    const { where, orderBy, values } = keyset({ created_at: "desc", id: "desc" }, from, { placeholder: "?" })
    const rows = read(`${select} where ${where} order by ${orderBy} limit ?`, ...values, limit + 1)
    return paginate({ rows, limit, codec, position }).data
  },
  kyselyCursor: async () =>
    (await paginator.paginate({ query, sorts, limit, cursor: { nextPage: kyselyCursor } })).items,
  drizzleCursor: async () => {
    const query = drizzleDb
      .select()
      .from(invoices)
      .where(drizzleCursor.where(drizzleToken) as never)
    const rows = await query.orderBy(...(drizzleCursor.orderBy as never[])).limit(limit + 1)
    if (rows.length > limit) drizzleCursor.serialize(rows[limit - 1])
    return rows.slice(0, limit)
  },
  jose: async () => {
    const rows = pageAfter(await verify(token))
    if (rows.length > limit) await sign(rows[limit - 1]!)
    return rows.slice(0, limit)
  },
  base64: () => {
    const rows = pageAfter(byHand.decode(byHandCursor))
    if (rows.length > limit) byHand.encode(rows[limit - 1]!)
    return rows.slice(0, limit)
  },
  offset: () =>
    read(`${select} order by created_at desc, id desc limit ? offset ?`, limit + 1, 100_000).slice(0, limit),
}
const idsOf = async (name: keyof typeof pages) => (await pages[name]()).map(({ id }) => id).join()
for (const name of ["kyselyCursor", "drizzleCursor", "jose", "base64", "offset"] as const) {
  if ((await idsOf(name)) !== (await idsOf("cursor"))) throw new Error(`${name} reads a different page.`)
}

/** Each candidate reads a page of invoices, newest first, after the position of a cursor. */
export const comparison: Comparison = {
  features: [
    ...[CHECKED, AUTHENTIC, SCOPED, EXPIRES, KEYS, TYPES],
    ...[STATEMENT, NULLABLE, NULLS, COMPUTED, ROWS, PREVIOUS, STABLE, ANY, KYSELY, DRIZZLE, DIALECTS, ENCRYPTED],
  ],
  operations: [PAGE, ROUND_TRIP, COUNT],
  candidates: [
    {
      name: "cursor",
      packageName: "@outreach/cursor",
      code: `import { cursorCodec, cursorKeyRing, paginate } from "@outreach/cursor"
import { keyset } from "@outreach/cursor/keyset"
export function page(sql, schema, key, cursor, limit) {
  const codec = cursorCodec({ schema, key, scope: "invoices of acme" })
  const from = { after: codec.decode(cursor) }
  const { where, orderBy, values } = keyset({ created_at: "desc", id: "desc" }, from, { placeholder: "?" })
  const rows = sql(\`${select} where \${where} order by \${orderBy} limit ?\`, [...values, limit + 1])
  return paginate({ rows, limit, codec, position: ({ created_at, id }) => ({ created_at, id }) })
}`,
      has: [
        ...[CHECKED, AUTHENTIC, SCOPED, EXPIRES, KEYS, TYPES, STATEMENT, NULLABLE, NULLS, COMPUTED, ROWS],
        ...[PREVIOUS, STABLE, ANY, KYSELY, DRIZZLE, DIALECTS],
      ],
      operations: {
        [PAGE]: pages.cursor,
        [ROUND_TRIP]: () => {
          const codec = codecOf()
          return codec.decode(codec.encode(last))
        },
        [COUNT]: () => database.prepare("select count(*) from invoices where created_at > '2026'").get(),
      },
    },
    {
      name: "kysely-cursor",
      packageName: "kysely-cursor",
      code: `import { createPaginator, SqlitePaginationDialect } from "kysely-cursor"
const paginator = createPaginator({ dialect: SqlitePaginationDialect })
const sorts = [{ col: "invoices.created_at", dir: "desc" }, { col: "invoices.id", dir: "desc" }]
export const page = (query, nextPage, limit) => paginator.paginate({ query, sorts, limit, cursor: { nextPage } })`,
      // Its AES codec rejects altered cursors and encrypts them. It derives a key with scrypt each time.
      has: [AUTHENTIC, TYPES, STATEMENT, NULLABLE, COMPUTED, PREVIOUS, STABLE, KYSELY, DIALECTS, ENCRYPTED],
      operations: {
        [PAGE]: pages.kyselyCursor,
        [ROUND_TRIP]: async () => kyselyCodec.decode(await kyselyCodec.encode(position(last))),
      },
    },
    {
      name: "drizzle-cursor",
      packageName: "drizzle-cursor",
      code: `import { generateCursor } from "drizzle-cursor"
export function page(db, invoices, token, limit) {
  const cursor = generateCursor({
    cursors: [{ order: "DESC", key: "created_at", schema: invoices.created_at }],
    primaryCursor: { order: "DESC", key: "id", schema: invoices.id },
  })
  return db.select().from(invoices).where(cursor.where(token)).orderBy(...cursor.orderBy).limit(limit + 1)
}`,
      has: [STATEMENT, STABLE, DRIZZLE],
      operations: {
        [PAGE]: pages.drizzleCursor,
        [ROUND_TRIP]: () => drizzleCursor.parse(drizzleCursor.serialize(position(last))),
      },
    },
    {
      name: "a JWT of jose, SQL by hand",
      packageName: "jose",
      code: `import { jwtVerify, SignJWT } from "jose"
export async function page(sql, secret, cursor, limit) {
  const { payload: { created_at, id } } = await jwtVerify(cursor, secret, { audience: "invoices of acme", algorithms: ["HS256"] })
  const rows = sql("${select} where (created_at, id) < (?, ?) order by created_at desc, id desc limit ?", [created_at, id, limit + 1])
  const last = rows[limit - 1]
  const next = new SignJWT({ created_at: last.created_at, id: last.id }).setProtectedHeader({ alg: "HS256" }).setAudience("invoices of acme")
  return { data: rows.slice(0, limit), next_cursor: rows.length > limit ? await next.setExpirationTime("1d").sign(secret) : null }
}`,
      has: [AUTHENTIC, SCOPED, EXPIRES, KEYS, STABLE, ANY],
      operations: { [PAGE]: pages.jose, [ROUND_TRIP]: async () => verify(await sign(last)) },
    },
    {
      name: "base64 of JSON, by hand",
      code: `export function page(sql, cursor, limit) {
  const { created_at, id } = JSON.parse(Buffer.from(cursor, "base64url").toString())
  const rows = sql("${select} where (created_at, id) < (?, ?) order by created_at desc, id desc limit ?", [created_at, id, limit + 1])
  const last = rows[limit - 1]
  const next_cursor = rows.length > limit ? Buffer.from(JSON.stringify({ created_at: last.created_at, id: last.id })).toString("base64url") : null
  return { data: rows.slice(0, limit), next_cursor }
}`,
      has: [STABLE, ANY],
      operations: { [PAGE]: pages.base64, [ROUND_TRIP]: () => byHand.decode(byHand.encode(last)) },
    },
    {
      name: "`offset`, by hand",
      code: `export function page(sql, number, limit) {
  const rows = sql("${select} order by created_at desc, id desc limit ? offset ?", [limit + 1, number * limit])
  return { data: rows.slice(0, limit), has_more: rows.length > limit }
}`,
      has: [PREVIOUS, ANY],
      operations: { [PAGE]: pages.offset },
    },
  ],
}
