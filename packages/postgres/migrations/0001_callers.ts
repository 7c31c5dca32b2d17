import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Organizations with their clocks, and the API keys with their rate windows. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // An id as the service makes them: a prefix and a UUIDv7 (RFC 9562 5.7) in hex; uuidv7() itself came only with PostgreSQL 18.
  yield* sql`
    create function make_id(prefix text) returns text language sql volatile as $$
      select prefix || '_' || encode(
        set_bit(set_bit(
          overlay(uuid_send(gen_random_uuid())
            placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
            from 1 for 6),
          52, 1), 53, 1),
        'hex')
    $$`

  yield* sql`
    create table organizations (
      id text collate "C" primary key,
      name text not null,
      created_at timestamptz not null default clock_timestamp()
    )`

  yield* sql`
    create table organization_clock (
      organization_id text collate "C" primary key references organizations,
      last timestamptz not null
    ) with (fillfactor = 50)`

  yield* sql`
    create table api_keys (
      id text collate "C" primary key,
      organization_id text collate "C" not null references organizations,
      name text not null,
      scopes text[] not null,
      hash bytea not null unique,
      prefix text not null,
      last_four text not null,
      created_at timestamptz not null default clock_timestamp(),
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz
    )`
  yield* sql`create index api_keys_of_organization on api_keys (organization_id, id)`

  // Unlogged: a crash of the server gives every key at most one fresh window.
  yield* sql`
    create unlogged table rate_windows (
      key_id text collate "C" not null,
      window_start bigint not null,
      count integer not null,
      primary key (key_id, window_start)
    ) with (fillfactor = 50)`
})
