import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { Pool } from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type KeysetColumn, keyset, type Order } from "../src/keyset.ts"
import { postgresUrl } from "./postgresUrl.ts"

// An index returns every page: rows are neither sorted, nor read from the start of the list. The planner has no other choice, so that no
// statistics decide.

const position = { at: "2026-11-21T00:45:29.123456Z", n: 7, id: 9000 }
const AT = "'2026-11-21 00:45:29.123456+00'::timestamp with time zone"
const CAST = "('2026-11-21T00:45:29.123456Z'::cstring)::timestamp with time zone"

interface Plan {
  readonly columns: Readonly<Record<string, Order | KeysetColumn>>
  readonly postgres: readonly [scan: string, ...conditions: ReadonlyArray<string>]
  readonly sqlite: string
}

const plans: ReadonlyArray<Plan> = [
  {
    columns: { at: "asc", id: "asc" },
    postgres: ["Index Scan using at_id on entry", `Index Cond: (ROW(at, id) > ROW(${AT}, 9000))`],
    sqlite: "SEARCH entry USING INDEX at_id ((at,id)>(?,?))",
  },
  {
    columns: { at: "desc", id: "desc" },
    postgres: ["Index Scan Backward using at_id on entry", `Index Cond: (ROW(at, id) < ROW(${AT}, 9000))`],
    sqlite: "SEARCH entry USING INDEX at_id ((at,id)<(?,?))",
  },
  {
    columns: { at: { order: "asc", type: "timestamptz" }, id: "asc" },
    postgres: ["Index Scan using at_id on entry", `Index Cond: (ROW(at, id) > ROW(${CAST}, 9000))`],
    sqlite: "SEARCH entry USING INDEX at_id ((at,id)>(?,?))",
  },
  {
    columns: { n: "desc nulls first", id: "desc" },
    postgres: ["Index Scan Backward using n_id on entry", "Index Cond: (ROW(n, id) < ROW(7, 9000))"],
    sqlite: "SEARCH entry USING INDEX n_id ((n,id)<(?,?))",
  },
  {
    columns: { at: "desc", id: "asc" },
    postgres: [
      "Index Scan using at_desc_id on entry",
      `Index Cond: (at <= ${AT})`,
      `Filter: ((at < ${AT}) OR ((at = ${AT}) AND (id > 9000)))`,
    ],
    sqlite: "SEARCH entry USING INDEX at_desc_id (at<?)",
  },
]

describe("in PostgreSQL", () => {
  let pool: Pool
  beforeAll(async () => {
    pool = new Pool({ connectionString: await postgresUrl(), max: 1, options: "-c timezone=UTC" })
    await pool.query(`
      create temporary table entry (at timestamptz not null, n int, id int not null);
      create index at_id on entry (at, id);
      create index at_desc_id on entry (at desc, id);
      create index n_id on entry (n, id);
      set enable_seqscan = off;
      set enable_bitmapscan = off;
      set enable_sort = off`)
  })
  afterAll(() => pool.end())

  async function linesOf({ columns }: Plan, isGeneric: boolean): Promise<ReadonlyArray<string>> {
    const { where, orderBy, values } = keyset(columns, { after: position }, { placeholder: "$1" })
    const statement = `explain (costs off, generic_plan ${isGeneric}) select * from entry where ${where} order by ${orderBy} limit 51`
    const { rows } = await pool.query<{ "QUERY PLAN": string }>(statement, isGeneric ? [] : values)
    return rows.map((row) => row["QUERY PLAN"].replace(/^[ >-]*/, ""))
  }

  it("one range of an index is a page, also from the value of the first column if directions are mixed", async () => {
    for (const plan of plans) expect(await linesOf(plan, false)).toEqual(["Limit", ...plan.postgres])
  })
  it("the index and its condition are the same in the plan of a prepared statement, which knows no values", async () => {
    for (const plan of plans) {
      const [, scan, condition] = await linesOf(plan, true)
      expect(scan).toBe(plan.postgres[0])
      expect(condition).toMatch(/^Index Cond: \((ROW\((at|n), id\) [<>] ROW\(.*\$1|at <= \$1)/)
    }
  })
})

it("in SQLite, one range of an index is a page, also from the value of the first column if directions are mixed", () => {
  const database = new DatabaseSync(":memory:")
  database.exec(`
    create table entry (at text not null, n int, id int not null);
    create index at_id on entry (at, id);
    create index at_desc_id on entry (at desc, id);
    create index n_id on entry (n, id)`)
  for (const { columns, sqlite } of plans) {
    const { where, orderBy, values } = keyset(columns, { after: position }, { placeholder: "?" })
    const statement = `explain query plan select * from entry where ${where} order by ${orderBy} limit 51`
    const details = database.prepare(statement).all(...(values as SQLInputValue[]))
    expect(details.map(({ detail }) => detail)).toEqual([sqlite])
  }
  database.close()
})
