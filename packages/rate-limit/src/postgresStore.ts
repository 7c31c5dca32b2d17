import { wholeMilliseconds } from "./decide.ts"
import type { RateLimitStore } from "./rateLimiter.ts"

/** Runs one statement with parameters. Resolves to its rows. */
export type PostgresQuery = (text: string, values: unknown[]) => PromiseLike<readonly unknown[]>

/** Any PostgreSQL client: `pg`, Neon and PGlite (`query`), `postgres` (`unsafe`), or a function that runs a statement. */
export type PostgresClient =
  | { query(text: string, values: unknown[]): PromiseLike<{ readonly rows: readonly unknown[] }> }
  // biome-ignore lint/suspicious/noExplicitAny: postgres.js names its parameters' types, which no other client has.
  | { unsafe(text: string, values: any[]): PromiseLike<readonly unknown[]> }
  | PostgresQuery

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** Table name in lower case, optionally with a schema. Default `rate_limits`. */
  readonly table?: string | undefined
  /** Current time in Unix milliseconds, the same for all processes. Default: the PostgreSQL server's clock. */
  readonly now?: (() => number) | undefined
}

/** A store in PostgreSQL. */
export interface PostgresStore extends RateLimitStore {
  /** Creates the table if it doesn't exist. */
  createTable(): Promise<void>
  /** Deletes unused keys, at most `maxRows` (default 1000). Returns their number. Call it every minute, and again while it returns `maxRows`. */
  deleteExpired(maxRows?: number): Promise<number>
}

/** Creates a store in PostgreSQL for any number of processes. Each request is one statement on one row. Throws `RangeError` on table names that need quotes. */
export function postgresStore(
  client: PostgresClient,
  { table = "rate_limits", now }: PostgresStoreOptions = {},
): PostgresStore {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(table))
    throw new RangeError("table must be a name in lower case, with its schema or without")
  const query = queryOf(client)
  const time = () => (now === undefined ? null : wholeMilliseconds(now()))
  const clock = (given: string) =>
    `coalesce(${given}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`
  const statement = `
    insert into ${table} as held (key, used, at, allowed, expires_at)
    select $1, case when taken <= $3::bigint then taken else 0 end, now, taken <= $3::bigint, now + $5::bigint
    from (select ${clock("$7")} as now) as clock
    cross join lateral (select greatest(0, case when now < $6::bigint then least($2::bigint, $3::bigint) else $2::bigint end) as taken) as change
    on conflict (key) do update set (used, at, allowed, expires_at) = (
      select left_over.used + case when allowed then taken else 0 end, latest.at, allowed, latest.at + $5::bigint
      from (select case when held.used > 0 and held.at - excluded.at between 1 and $5::bigint then held.at else excluded.at end as at) as latest
      cross join lateral (
        select case
          when $4::bigint > 0 then greatest(0, held.used - least(greatest(0, latest.at - held.at), $5::bigint) * $4::bigint)
          when latest.at / $5::bigint <= held.at / $5::bigint then held.used
          else 0
        end as used
      ) as left_over
      cross join lateral (
        select case when latest.at < $6::bigint then greatest(-left_over.used, least($2::bigint, $3::bigint - left_over.used))
          else greatest(0, $2::bigint) end as taken
      ) as change
      cross join lateral (select left_over.used + taken <= $3::bigint as allowed) as decided
    )
    returning used::float8, at::float8, allowed, ${clock("$7")}::float8 as now`
  return {
    async createTable() {
      // Rows live for one window, so the table is unlogged; free space in each page allows HOT updates.
      await query(
        `create unlogged table if not exists ${table} (
          key text collate "C" primary key,
          used bigint not null,
          at bigint not null,
          allowed boolean not null,
          expires_at bigint not null
        ) with (fillfactor = 50)`,
        [],
      )
    },
    async spend(key, { units, forceUntil }, { id, limit, unit, leak, windowMs }) {
      const [row] = await query(statement, [`${id}:${key}`, units, limit * unit, leak, windowMs, forceUntil, time()])
      const { used, at, allowed, now: counted } = row as { used: number; at: number; allowed: boolean; now: number }
      return { used, at, allowed, now: counted }
    },
    async deleteExpired(maxRows = 1000) {
      const deleted = await query(
        `with expired as materialized (
           select key from ${table} where expires_at <= ${clock("$1")} limit $2 for update skip locked
         )
         delete from ${table} counted using expired where counted.key = expired.key returning 1`,
        [time(), maxRows],
      )
      return deleted.length
    },
  }
}

function queryOf(client: PostgresClient): PostgresQuery {
  // postgres.js is a function too, but expects a template.
  if ("unsafe" in client) return (text, values) => client.unsafe(text, values)
  if (typeof client === "function") return client
  return async (text, values) => (await client.query(text, values)).rows
}
