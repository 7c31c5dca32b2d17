import { DatabaseSync } from "node:sqlite"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type KeysetColumn, keyset, type Order } from "../src/keyset.ts"

const at = "2026-11-21T02:45:29.123456Z"
const columns = { created_at: "desc", id: "desc" } as const

describe("a keyset", () => {
  it("of one direction without nulls compares rows, from a parameter on", () => {
    expect(keyset(columns, { after: { created_at: at, id: 7 } }, { placeholder: "$2" })).toEqual({
      where: "(created_at, id) < ($2, $3)",
      orderBy: "created_at desc, id desc",
      values: [at, 7],
    })
    expect(keyset({ id: "asc" }, { after: { id: 7n } }, { placeholder: "?" })).toEqual({
      where: "(id) > (?)",
      orderBy: "id asc",
      values: [7n],
    })
  })
  it("without a position starts at the first row", () => {
    for (const from of [null, undefined, {}, { after: null }, { before: null, after: undefined }]) {
      expect(keyset(columns, from, { placeholder: "$9" })).toEqual({
        where: "true",
        orderBy: "created_at desc, id desc",
        values: [],
      })
    }
  })
  it("uses the statement's column names, and casts values only for PostgreSQL", () => {
    const named = {
      createdAt: { column: 'invoice."createdAt"', order: "asc", type: "timestamptz" },
      id: "asc",
    } as const
    const after = { createdAt: at, id: 7 }
    expect(keyset(named, { after }, { placeholder: "$1" })).toMatchObject({
      where: '(invoice."createdAt", id) > ($1::text::timestamptz, $2)',
      orderBy: 'invoice."createdAt" asc, id asc',
    })
    expect(keyset(named, { after }, { placeholder: "?" }).where).toBe('(invoice."createdAt", id) > (?, ?)')
  })
  it("compares the columns one by one for SQL Server and MySQL, which don't read a range of an index for rows", () => {
    const after = { created_at: at, id: 7 }
    expect(keyset(columns, { after }, { placeholder: "@p2" })).toEqual({
      where: "(created_at <= @p2 and (created_at < @p3 or created_at = @p4 and (id < @p5)))",
      orderBy: "created_at desc, id desc",
      values: [at, at, at, 7],
    })
    const named = { created_at: { column: "i.`createdAt`", order: "asc nulls last" }, id: "asc" } as const
    expect(keyset(named, { after: { created_at: null, id: 7 } }, { placeholder: "?", dialect: "mysql" })).toEqual({
      where: "((false or i.`createdAt` is null and (id > ?)))",
      orderBy: "case when i.`createdAt` is null then 1 else 0 end, i.`createdAt` asc, id asc",
      values: [7],
    })
  })
  it("orders by an expression that the caller trusts, and reads its value from the position", () => {
    const computed = { word: { sql: "lower(name)", order: "asc" }, id: "asc" } as const
    expect(keyset(computed, { after: { word: "ada", id: 7 } }, { placeholder: "$1" })).toEqual({
      where: "((lower(name)), id) > ($1, $2)",
      orderBy: "(lower(name)) asc, id asc",
      values: ["ada", 7],
    })
  })
  it("takes any position that has its columns, and no other", () => {
    const position = { created_at: at, id: 7, text: "more than it needs" }
    expect(keyset(columns, { after: position }, { placeholder: "?" }).values).toEqual([at, 7])
    // @ts-expect-error the position has no id
    expect(() => keyset(columns, { after: { created_at: at } }, { placeholder: "?" })).toThrow(TypeError)
  })
})

describe("a keyset rejects", () => {
  const make = (
    column: Order | KeysetColumn,
    { value = 1, placeholder = "$1", name = "a" }: Record<string, unknown> = {},
  ) =>
    keyset(
      { [name as string]: column },
      { after: { [name as string]: value as string } },
      { placeholder: placeholder as "?" },
    )

  it.each(["", "ASC", "asc;", "asc nulls", "nulls first", " desc", "desc nulls last\n", "asc, b asc", null])(
    "the order %j",
    (order) => {
      const message = 'a must be "asc" or "desc", and " nulls first" or " nulls last" if it may be null'
      expect(() => make(order as Order)).toThrow(new TypeError(message))
      expect(() => make({ order: order as Order })).toThrow(new TypeError(message))
    },
  )
  it.each(["$0", "$", "$01", "$1 ", "??", ":1", "", "$1;", 1, null])("the placeholder %j", (placeholder) => {
    expect(() => make("asc", { placeholder })).toThrow(
      new TypeError('placeholder must be "?", or the first one, such as "$1" or "@p1"'),
    )
  })
  it.each([Number.NaN, {}, [], new Map(), () => 1, Symbol("x"), null])("the value %s", (value) => {
    expect(() => make("asc", { value })).toThrow(
      new TypeError("a must be in the position, and not null unless its order says so"),
    )
  })
  it.each(["__proto__", "constructor", "toString"])("a position that has %s from its prototype alone", (name) => {
    expect(() => keyset(JSON.parse(`{"${name}":"asc"}`), { after: {} as never }, { placeholder: "?" })).toThrow(
      TypeError,
    )
  })
  it("a quote of another database, which MySQL reads as text, an unknown database, and no column", () => {
    expect(() => keyset({}, null, { placeholder: "?" })).toThrow(new TypeError("columns must be at least one"))
    expect(() => keyset({ '"id"': "asc" }, null, { placeholder: "?", dialect: "mysql" })).toThrow(TypeError)
    expect(() => keyset({ id: "asc" }, null, { placeholder: "?", dialect: "oracle" as never })).toThrow(
      new TypeError("dialect must be postgresql, sqlite, mysql or mssql"),
    )
  })
  it.each([
    ...["a b", "a;", "1a", "a.", ".a", 'a"', '"a', '""', "a-b", "lower(a)", "a--", "a\n", '"a"b"', "`a`", "'a'"],
    "é",
  ])("the column %j, and the type", (column) => {
    const message = "a must be an identifier, and its type another"
    expect(() => make({ column, order: "asc" })).toThrow(new TypeError(message))
    expect(() => make({ order: "asc", type: column })).toThrow(new TypeError(message))
    expect(() => make("asc", { name: column })).toThrow(TypeError)
  })
  it("any text that SQLite doesn't read as a column name", () => {
    const database = new DatabaseSync(":memory:")
    const text = fc.string({ unit: fc.constantFrom(..."ab1_.\".;'-( \0\n$,"), maxLength: 8 })
    let accepted = 0
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          text.map((inner) => `"${inner}"`),
        ),
        (column) => {
          fc.pre(column.split(".").length < 4)
          try {
            make({ column, order: "asc" })
          } catch {
            return
          }
          accepted++
          expect(() => database.prepare(`select ${column} from (select 1 as column_of_t) as t`)).toThrow(
            /^no such column: /,
          )
        },
      ),
    )
    expect(accepted).toBeGreaterThan(0)
    database.close()
  })
})
