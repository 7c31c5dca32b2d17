import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Jobs that replay dead letters, and dead letters by age, for those that are purged. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // after_*: up to where the dead letters have been looked through, in the order of dead_letters_to_replay.
  yield* sql`
    create table replay_jobs (
      id text collate "C" primary key default make_id('rpl'),
      endpoint_id text collate "C",
      event_type text,
      reason text,
      set_aside_from timestamptz,
      set_aside_to timestamptz,
      rate integer not null check (rate > 0),
      total integer not null,
      replayed integer not null default 0,
      after_at timestamptz not null,
      after_id text collate "C" not null default '',
      next_at timestamptz not null,
      created_at timestamptz not null,
      finished_at timestamptz,
      cancelled_at timestamptz
    )`
  yield* sql`create index replay_jobs_under_way on replay_jobs (next_at) where finished_at is null and cancelled_at is null`

  // A range of dead_letters_to_replay and nothing else, also when a hundred thousand have died since the table was last analysed.
  yield* sql`
    create function dead_letters_after(after_at timestamptz, after_id text, before timestamptz, most integer)
    returns table (
      organization_id text, id text, endpoint_id text, event_id text, reason text, finished_at timestamptz
    )
    language sql stable set enable_bitmapscan = off set enable_seqscan = off set enable_sort = off as $$
      select organization_id, id, endpoint_id, event_id, reason, finished_at from dead_letters
      where replayed_as is null and (finished_at, id) > (after_at, after_id) and finished_at < before
      order by finished_at, id limit most
    $$`

  // The others by age, for the purge.
  yield* sql`create index dead_letters_replayed on dead_letters (finished_at, id) where replayed_as is not null`
})
