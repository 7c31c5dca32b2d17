import { Campaign } from "@outreach/domain/campaigns/Campaign"
import { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { Operator } from "@outreach/domain/operators/Operator"
import { ApiKey } from "@outreach/domain/organizations/ApiKey"
import { Organization, OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Program } from "@outreach/domain/programs/Program"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import {
  allOf,
  columnOf,
  decodeColumn,
  decodeValue,
  equal,
  first,
  firstOr,
  keyset,
  rowsOf,
  toTable,
} from "@outreach/postgres/rowsOf"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { fragment, sql } from "@outreach/testing/sql"
import { Effect, Option, Schema, Struct } from "effect"
import { describe, expect, it } from "vitest"

const { test } = testsOnDatabase()

/** The entities that are read by the columns of their schema, and further columns of their tables that other statements use. */
const ENTITIES = [
  {
    ...{ table: "recipients", entity: Recipient },
    others: [
      ...["published_at", "withdrawn_at", "withdrawal_reason", "account_created_at", "erased_at"],
      ...["opened_on", "unsuspected_opened_on", "clicked_on", "unsuspected_clicked_on"],
    ],
  },
  { table: "programs", entity: Program, others: [] },
  { table: "organizations", entity: Organization, others: [] },
  { table: "api_keys", entity: ApiKey, others: ["hash"] },
  {
    ...{ table: "webhook_endpoints", entity: Schema.Struct(Struct.omit(Endpoint.fields, ["ownSecrets"])) },
    others: ["shared_secrets_until", "address_since"],
  },
  { table: "operators", entity: Operator, others: ["created_at", "removed_at"] },
  { table: "campaigns", entity: Campaign, others: ["complaints_accepted", "status_before_restore"] },
] as const

const takesNull = (field: Schema.Top) => Option.isSome(Schema.decodeUnknownOption(field as Schema.Codec<unknown>)(null))

describe("the schema of an entity", () => {
  for (const { table, entity, others } of ENTITIES) {
    test(`matches the columns of ${table} and their nullability`, function* () {
      const columns = yield* sql<{ name: string; isNullable: boolean }>`
        select attname as name, not attnotnull as "isNullable" from pg_attribute
        where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`
      const fields = Object.entries<Schema.Top>(entity.fields).map(([name, field]) => ({
        name: columnOf(name),
        isNullable: takesNull(field),
      }))
      const isOther = ({ name }: { readonly name: string }) => (others as ReadonlyArray<string>).includes(name)
      const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
      expect(columns.filter((column) => !isOther(column)).sort(byName)).toEqual(fields.sort(byName))
      expect(others.filter((name) => !columns.some((column) => column.name === name))).toEqual([])
    })
  }

  it("becomes the select list or a JSON object, and its values become an entity", () => {
    const { columns, fromValues, json } = rowsOf(
      Schema.Struct({ id: Schema.String, lastEventAt: Schema.NullOr(Schema.String) }),
    )
    expect(columns.segments).toEqual([{ _tag: "Literal", value: `id as "id", last_event_at as "lastEventAt"` }])
    expect(fromValues(["rcp_1", null])).toEqual({ id: "rcp_1", lastEventAt: null })
    expect(json).toBe("jsonb_build_object('id', id, 'lastEventAt', last_event_at)")
  })
})

describe("the rows of a statement", () => {
  const numbers = decodeColumn({ number: Schema.Int })
  const organizationId = "org_none" as Organization["id"]

  test("are its values if it has one column, the first one, or a failure without any", function* () {
    const upTo = (last: number) => sql`select generate_series(1, ${last}::int) as number`
    expect(yield* upTo(3).pipe(numbers)).toEqual([1, 2, 3])
    expect(yield* upTo(3).pipe(numbers, first)).toBe(1)
    expect(yield* upTo(0).pipe(numbers, first)).toBeUndefined()
    expect(yield* upTo(3).pipe(numbers, firstOr(OrganizationNotFound, { organizationId }))).toBe(1)
    const failure = yield* Effect.flip(upTo(0).pipe(numbers, firstOr(OrganizationNotFound, { organizationId })))
    expect(failure).toEqual(new OrganizationNotFound({ organizationId }))
  })

  test("are a defect if a row is required and missing", function* () {
    const value = decodeValue({ number: Schema.Int })
    expect(yield* sql`select 7 as number`.pipe(value)).toBe(7)
    const exit = yield* Effect.exit(sql`select 7 as number where false`.pipe(value))
    expect(String(exit)).toContain("returned no row")
  })

  test("are read from values of the process, each field by its name", function* () {
    const given = [
      { id: "a", sentAt: "2026-11-01T00:00:00.000000Z", times: 2, others: "left out" },
      { id: "b", sentAt: "2026-11-02T00:00:00.000000Z", times: 3, others: "left out" },
    ]
    const table = toTable("given", given, { id: "text", sentAt: "timestamptz", times: "int" })
    expect(yield* sql`select id, sent_at as "sentAt", times from ${table} order by given.sent_at desc`).toEqual(
      given.map(Struct.omit(["others"])).reverse(),
    )
  })
})

interface Entry {
  readonly at: string
  readonly id: string
}

const readPages = Effect.fnUntraced(function* (direction: "asc" | "desc", limit: number) {
  const list = keyset({ at: "entry.at", id: "entry.id" }, direction)
  const pages: Array<ReadonlyArray<string>> = []
  let cursor: Entry | null = null
  do {
    const rows: ReadonlyArray<Entry & { readonly kind: string }> = yield* sql<Entry & { kind: string }>`
      select at::text, id, 'entry' as kind
      from (values ('2026-01-02'::timestamptz, 'b'), ('2026-01-01', 'a'), ('2026-01-02', 'a'), ('2026-01-03', 'a')) entry (at, id)
      where ${list.after(cursor)} order by ${list.order} limit ${limit + 1}`
    const { rows: page, next } = list.page(rows, limit)
    pages.push(page.map(({ at, id }) => `${at.slice(8, 10)}${id}`))
    cursor = next
  } while (cursor !== null)
  return pages
})

describe("a list with a key", () => {
  test("is read in pages without gaps or repetitions", function* () {
    expect(yield* readPages("asc", 2)).toEqual([
      ["01a", "02a"],
      ["02b", "03a"],
    ])
    expect(yield* readPages("desc", 3)).toEqual([["03a", "02b", "02a"], ["01a"]])
    expect(yield* readPages("asc", 4)).toEqual([["01a", "02a", "02b", "03a"]])
  })

  it("has a cursor with only its columns", () => {
    const list = keyset({ id: "id" }, "asc")
    expect(
      list.page(
        [
          { id: "a", text: "one" },
          { id: "b", text: "two" },
        ],
        1,
      ),
    ).toEqual({ rows: [{ id: "a", text: "one" }], next: { id: "a" } })
  })
})

test("the conditions of a filter contain the defined ones, and match all rows without any", function* () {
  const count = (condition: ReturnType<typeof allOf>) =>
    Effect.map(
      sql`select from (values (1, 'x', false), (2, 'x', true), (3, 'y', true)) entry (n, word, is_odd) where ${condition}`,
      (rows) => rows.length,
    )
  expect(yield* count(equal({ n: undefined, word: undefined }))).toBe(3)
  expect(yield* count(equal({ word: "x", is_odd: true }))).toBe(1)
  expect(yield* count(allOf())).toBe(3)
  expect(yield* count(allOf(undefined, fragment`n > 1`, equal({ word: "x" })))).toBe(1)
})
