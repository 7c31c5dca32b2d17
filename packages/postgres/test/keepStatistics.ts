import { column, sql } from "@outreach/testing/sql"
import { Effect } from "effect"

/** Disables autovacuum's statistics for a table and its partitions, because plans depend on them. */
export const keepStatistics = Effect.fnUntraced(function* (table: string) {
  const names = yield* column<string>`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and (oid = ${table}::regclass or oid in (select inhrelid from pg_inherits where inhparent = ${table}::regclass))`
  for (const name of names) yield* sql.unsafe(`alter table ${name} set (autovacuum_enabled = off)`)
})
