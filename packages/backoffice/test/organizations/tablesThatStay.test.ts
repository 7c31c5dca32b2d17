import { describe, expect } from "@effect/vitest"
import { Partitions } from "@outreach/postgres/Partitions"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { backoffice } from "../../src/backoffice.ts"
import { TABLES_THAT_STAY } from "../../src/organizations/tablesThatStay.ts"

const test = effectTest(runOnDatabase({ layer: backoffice }))

/** The tables that hold rows, and whether `organization_id` belongs to the replica identity of each, from an index and not by the whole row. */
const identities = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const parent of ["delivered", "events", "inbox", "hits"] as const) yield* (yield* Partitions).add(parent)
  return yield* sql<{ name: string; root: string; hasOrganization: boolean }>`
    select relname as name, coalesce(pg_partition_root(pg_class.oid)::regclass, pg_class.oid::regclass)::text as root,
      exists (
        select from pg_index join pg_attribute on attrelid = indexrelid
        where indrelid = pg_class.oid and attname = 'organization_id'
          and case relreplident when 'd' then indisprimary when 'i' then indisreplident end
      ) as "hasOrganization"
    from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`
})

describe("a table", () => {
  test("has organization_id in its replica identity, each partition as well, or is declared to stay", function* () {
    const rows = yield* identities
    expect(rows.filter(({ name }) => /^(events|inbox|hits|delivered)_2/.test(name)).length).toBeGreaterThan(8)
    expect(
      rows.filter(({ root, hasOrganization }) => !hasOrganization && !(root in TABLES_THAT_STAY)),
      "Give the table organization_id in its primary key, or name it in TABLES_THAT_STAY of packages/backoffice/src/organizations/tablesThatStay.ts with what becomes of it when an organization moves.",
    ).toEqual([])
    expect(Object.keys(TABLES_THAT_STAY).filter((name) => rows.every(({ root }) => root !== name))).toEqual([])
  })
})
