import type { EventStore } from "./EventStore.ts"

/** A synchronous SQLite database: `DatabaseSync` of `node:sqlite`, `better-sqlite3`, or `Database` of `bun:sqlite`. */
export interface SqliteDatabase {
  prepare(sql: string): {
    get(...values: (string | number)[]): unknown
    run(...values: (string | number)[]): unknown
  }
}

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** Table name in lower case. Default `outreach_webhook_events`. */
  readonly table?: string | undefined
  /** Seconds until a claim expires and another delivery is handled. Default 300. */
  readonly leaseSeconds?: number | undefined
  /** Current Unix time in seconds. Default: the system clock. */
  readonly now?: (() => number) | undefined
}

/** A store in SQLite. */
export interface SqliteStore extends EventStore {
  /** Deletes events that were handled longer ago than this. The service retries for 31.2 hours; manual replays can come later. */
  forget(olderThanSeconds: number): Promise<void>
}

/**
 * Creates a store in SQLite, including its table, for processes of one machine that open the same file.
 *
 * Throws `RangeError` on table names that need quotes.
 */
export function sqliteStore(
  database: SqliteDatabase,
  { table = "outreach_webhook_events", leaseSeconds = 300, now = () => Date.now() / 1000 }: SqliteStoreOptions = {},
): SqliteStore {
  if (!/^[a-z_][a-z0-9_]*$/.test(table)) throw new RangeError("table must be a name in lower case")
  database
    .prepare(
      `create table if not exists ${table} (
         event_id text primary key,
         claim text not null,
         claimed_until real not null,
         handled_at real
       )`,
    )
    .run()
  const insertClaim = database.prepare(
    `insert into ${table} as held (event_id, claim, claimed_until) values (?, hex(randomblob(16)), ?)
     on conflict (event_id) do update set claim = excluded.claim, claimed_until = excluded.claimed_until
     where held.handled_at is null and held.claimed_until <= ?
     returning claim`,
  )
  const selectHandled = database.prepare(`select 1 from ${table} where event_id = ? and handled_at is not null`)
  const updateHandled = database.prepare(`update ${table} set handled_at = ? where event_id = ?`)
  const deleteClaim = database.prepare(`delete from ${table} where event_id = ? and claim = ? and handled_at is null`)
  const deleteHandled = database.prepare(`delete from ${table} where handled_at < ?`)
  return {
    async claim(eventId) {
      const row = insertClaim.get(eventId, now() + leaseSeconds, now()) as { readonly claim: string } | null | undefined
      if (row) return { state: "claimed", claim: row.claim }
      return { state: selectHandled.get(eventId) ? "handled" : "in_progress" }
    },
    async complete(eventId) {
      updateHandled.run(now(), eventId)
    },
    async release(eventId, claim) {
      deleteClaim.run(eventId, claim)
    },
    async forget(olderThanSeconds) {
      deleteHandled.run(now() - olderThanSeconds)
    },
  }
}
