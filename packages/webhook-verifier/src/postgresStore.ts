import type { EventStore } from "./EventStore.ts"

/** Any PostgreSQL client with a `query` method, such as `pg`, Neon or PGlite. */
export interface QueryClient {
  query(text: string, values: unknown[]): PromiseLike<{ readonly rows: readonly unknown[] }>
}

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** Table name in lower case, optionally with a schema. Default `outreach_webhook_events`. */
  readonly table?: string | undefined
  /** Seconds until a claim expires and another delivery is handled. Default 300. */
  readonly leaseSeconds?: number | undefined
}

/** A store in PostgreSQL. */
export interface PostgresStore extends EventStore {
  /** Creates the table if it doesn't exist. */
  createTable(): Promise<void>
  /** Deletes events that were handled longer ago than this. The service retries for 31.2 hours; manual replays can come later. */
  forget(olderThanSeconds: number): Promise<void>
}

/** Creates a store in PostgreSQL for any number of processes. Throws `RangeError` on table names that need quotes. */
export function postgresStore(
  client: QueryClient,
  { table = "outreach_webhook_events", leaseSeconds = 300 }: PostgresStoreOptions = {},
): PostgresStore {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(table)) {
    throw new RangeError("table must be a name in lower case, with its schema or without")
  }
  const run = async (text: string, ...values: unknown[]): Promise<readonly unknown[]> =>
    (await client.query(text, values)).rows
  return {
    async createTable() {
      await run(`
        create table if not exists ${table} (
          event_id text primary key,
          claim uuid not null,
          claimed_until timestamptz not null,
          handled_at timestamptz
        )`)
    },
    async claim(eventId) {
      // The select may not see a concurrent claim. Then the event counts as in progress, and the service retries it.
      const [row] = (await run(
        `with claimed as (
           insert into ${table} as held (event_id, claim, claimed_until)
           values ($1, gen_random_uuid(), clock_timestamp() + $2::float8 * interval '1 second')
           on conflict (event_id) do update set claim = excluded.claim, claimed_until = excluded.claimed_until
           where held.handled_at is null and held.claimed_until <= clock_timestamp()
           returning claim
         )
         select
           (select claim::text from claimed) as claim,
           exists (select from ${table} where event_id = $1 and handled_at is not null) as handled`,
        eventId,
        leaseSeconds,
      )) as { claim: string | null; handled: boolean }[]
      if (row?.claim != null) return { state: "claimed", claim: row.claim }
      return { state: row?.handled === true ? "handled" : "in_progress" }
    },
    async complete(eventId) {
      await run(`update ${table} set handled_at = clock_timestamp() where event_id = $1`, eventId)
    },
    async release(eventId, claim) {
      await run(`delete from ${table} where event_id = $1 and claim = $2 and handled_at is null`, eventId, claim)
    },
    async forget(olderThanSeconds) {
      await run(
        `delete from ${table} where handled_at < clock_timestamp() - $1::float8 * interval '1 second'`,
        olderThanSeconds,
      )
    },
  }
}
