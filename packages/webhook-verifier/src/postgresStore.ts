import type { EventStore } from "./deduplicate.ts"

/** Any PostgreSQL client with a `query` method, such as that of `pg`, Neon or PGlite. */
export interface QueryClient {
  query(text: string, values: unknown[]): PromiseLike<{ readonly rows: readonly unknown[] }>
}

/** Where and how a store in PostgreSQL keeps its events. */
export interface PostgresStoreOptions {
  /** The table's name, with its schema or without, in lower case. Default `outreach_webhook_events`. */
  readonly table?: string | undefined
  /** How long a handler may take before another delivery is handled beside it. Default 300. */
  readonly leaseSeconds?: number | undefined
}

/** A store in PostgreSQL. */
export interface PostgresStore extends EventStore {
  /** Creates the table unless it is there. */
  createTable(): Promise<void>
  /** Forgets events that were handled longer ago than this; deliveries repeat for 31.2 hours, and after that when replayed by hand. */
  forget(olderThanSeconds: number): Promise<void>
}

/** Creates a store in PostgreSQL, for any number of processes. Throws `RangeError` on a table's name that would need quotes. */
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
      // The second look may be older than the first by a concurrent claim: then the event counts as in progress, and comes again.
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
