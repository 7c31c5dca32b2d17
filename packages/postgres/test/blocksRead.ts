import { sql, value } from "@outreach/testing/sql"
import { Effect } from "effect"

/** Counts the blocks of a table, its partitions and its indexes that an effect reads on the only connection. */
export const blocksRead = Effect.fnUntraced(function* <A, E, R>(table: string, effect: Effect.Effect<A, E, R>) {
  const total = Effect.gen(function* () {
    yield* sql`select pg_stat_force_next_flush()`
    return yield* value<number>`
      select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as blocks
      from pg_statio_user_tables
      where relid = ${table}::regclass or relid in (select inhrelid from pg_inherits where inhparent = ${table}::regclass)`
  })
  const before = yield* total
  const result = yield* effect
  return [(yield* total) - before, result] as const
})
