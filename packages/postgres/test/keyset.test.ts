import { describe, expect } from "@effect/vitest"
import { allOf, equal } from "@outreach/postgres/conditions"
import { keyset } from "@outreach/postgres/keyset"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { it } from "vitest"

const test = effectTest(runOnDatabase())

interface Entry {
  readonly at: string
  readonly id: string
}

/** Reads pages until the list ends. */
const readPages = Effect.fnUntraced(function* (direction: "asc" | "desc", limit: number) {
  const sql = yield* SqlClient.SqlClient
  const list = keyset({ at: "entry.at", id: "entry.id" }, direction)
  const pages: Array<ReadonlyArray<string>> = []
  let cursor: Entry | null = null
  do {
    const rows: ReadonlyArray<Entry & { readonly kind: string }> = yield* sql<Entry & { kind: string }>`
      select at::text, id, 'entry' as kind
      from (values ('2026-01-02'::timestamptz, 'b'), ('2026-01-01', 'a'), ('2026-01-02', 'a'), ('2026-01-03', 'a')) entry (at, id)
      where ${list.after(cursor)} order by ${list.order} limit ${limit + 1}`
    const { data, next_cursor } = list.page(rows, limit)
    pages.push(data.map(({ at, id }) => `${at.slice(8, 10)}${id}`))
    cursor = next_cursor
  } while (cursor !== null)
  return pages
})

describe("a list with a key", () => {
  test("is read in pages that leave out and repeat no row", function* () {
    expect(yield* readPages("asc", 2)).toEqual([
      ["01a", "02a"],
      ["02b", "03a"],
    ])
    expect(yield* readPages("desc", 3)).toEqual([["03a", "02b", "02a"], ["01a"]])
    expect(yield* readPages("asc", 4)).toEqual([["01a", "02a", "02b", "03a"]])
  })

  it("has a cursor of its columns alone", () => {
    const list = keyset({ id: "id" }, "asc")
    expect(
      list.page(
        [
          { id: "a", text: "one" },
          { id: "b", text: "two" },
        ],
        1,
      ),
    ).toEqual({
      data: [{ id: "a", text: "one" }],
      has_more: true,
      next_cursor: { id: "a" },
    })
  })
})

describe("the conditions of a filter", () => {
  test("hold those that are given, and all rows without one", function* () {
    const sql = yield* SqlClient.SqlClient
    const count = (condition: ReturnType<typeof allOf>) =>
      Effect.map(
        sql`select from (values (1, 'x', false), (2, 'x', true), (3, 'y', true)) entry (n, word, is_odd) where ${condition}`,
        (rows) => rows.length,
      )
    expect(yield* count(equal({ n: undefined, word: undefined }))).toBe(3)
    expect(yield* count(equal({ word: "x", is_odd: true }))).toBe(1)
    expect(yield* count(allOf())).toBe(3)
    expect(yield* count(allOf(undefined, sql`n > 1`, equal({ word: "x" })))).toBe(1)
  })
})
