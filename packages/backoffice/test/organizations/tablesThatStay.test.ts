import { describe, expect } from "@effect/vitest"
import { Partitions } from "@outreach/postgres/Partitions"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
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

/** A transaction with a publication of one organization, without checks of foreign keys, which is taken back. */
const whilePublished = <A, E, R>(
  organizationId: string,
  use: (tables: ReadonlyArray<string>) => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const roots = yield* sql<{ name: string }>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`
    const tables = roots.map(({ name }) => name).filter((name) => !(name in TABLES_THAT_STAY))
    const list = tables.map((name) => `${name} where (organization_id = '${organizationId}')`)
    const publish = sql.unsafe(
      `create publication one for table ${list.join(", ")} with (publish_via_partition_root = true)`,
    )
    const attempt = Effect.all([publish, sql`set local session_replication_role = replica`]).pipe(
      Effect.andThen(use(tables)),
    )
    // Success is turned into failure and back, because a failure is what takes a transaction back.
    return yield* Effect.flip(sql.withTransaction(Effect.flip(attempt)))
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

  test("can be updated and deleted from for one organization while another is published", function* () {
    yield* identities
    const { organization: moving } = yield* seedCampaign({ recipients: 2 })
    const { organization: staying } = yield* seedCampaign({ recipients: 2 })
    const sql = yield* SqlClient.SqlClient
    const outcome = yield* whilePublished(
      moving.id,
      Effect.fnUntraced(function* (tables) {
        const deletedFrom: Array<string> = []
        for (const table of tables) {
          yield* sql`update ${sql(table)} set organization_id = organization_id where organization_id = ${staying.id}`
          const rows = yield* sql`delete from ${sql(table)} where organization_id = ${staying.id} returning 1`
          if (rows.length > 0) deletedFrom.push(table)
        }
        return { tables, deletedFrom }
      }),
    )
    expect(outcome).toEqual({
      tables: expect.arrayContaining(["delivered", "deliveries", "events", "hits", "inbox", "stored_responses"]),
      deletedFrom: expect.arrayContaining(["endpoint_readers", "reader_positions", "recipients", "signing_secrets"]),
    })
  })
})
