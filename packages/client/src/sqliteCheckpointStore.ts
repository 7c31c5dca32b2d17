import { type CheckpointStore, parseCheckpoint, type TableOptions, tableOf } from "./CheckpointStore.ts"
import type { Checkpoint } from "./syncEvents.ts"

/** A synchronous SQLite database: `DatabaseSync` of `node:sqlite`, `better-sqlite3`, or `Database` of `bun:sqlite`. */
export interface SqliteDatabase {
  prepare(sql: string): {
    get(...values: string[]): unknown
    run(...values: string[]): unknown
  }
}

/** A store in SQLite. Its methods are synchronous, so you can call them in a transaction. */
export interface SqliteCheckpointStore extends CheckpointStore {
  load(): Checkpoint | undefined
  save(checkpoint: Checkpoint): void
}

/**
 * Creates a store in SQLite, including its table. Throws `RangeError` on table names that need quotes.
 *
 * If you save the checkpoint in the transaction that stores the events, no event is lost or repeated.
 */
export function sqliteCheckpointStore(database: SqliteDatabase, options: TableOptions = {}): SqliteCheckpointStore {
  const { table, name } = tableOf(options)
  database.prepare(`create table if not exists ${table} (name text primary key, checkpoint text not null)`).run()
  const select = database.prepare(`select checkpoint from ${table} where name = ?`)
  const upsert = database.prepare(
    `insert into ${table} (name, checkpoint) values (?, ?) on conflict (name) do update set checkpoint = excluded.checkpoint`,
  )
  return {
    load() {
      // node:sqlite and bun:sqlite return different values for a missing row.
      const row = select.get(name) as { readonly checkpoint: string } | null | undefined
      return row ? parseCheckpoint(row.checkpoint, `The row ${JSON.stringify(name)} of ${table}`) : undefined
    },
    save(checkpoint) {
      upsert.run(name, JSON.stringify(checkpoint))
    },
  }
}
