import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How fast e-mails go out, in all, for each campaign and to each recipient domain; and which domains a campaign leaves alone for a while. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table campaigns add per_minute integer check (per_minute > 0), add short_link text`

  // After a crash of the database each scope begins anew, with at most one second's worth too many.
  yield* sql`
    create unlogged table mail_paces (
      scope text collate "C" primary key,
      next_at timestamptz not null,
      put_off_to timestamptz not null default '-infinity'
    ) with (fillfactor = 50)`

  yield* sql`
    create table mail_pauses (
      organization_id text collate "C" not null,
      campaign_id text collate "C" not null,
      domain text collate "C" not null,
      status text not null,
      paused_at timestamptz not null default clock_timestamp(),
      until timestamptz not null,
      primary key (organization_id, campaign_id, domain),
      foreign key (organization_id, campaign_id) references campaigns
    )`

  // What nobody used is kept for a second, so that a claim that comes late does not slow the sending down.
  yield* sql`
    create function mail_slots(next_at timestamptz, per_minute integer, present timestamptz) returns integer
    language sql immutable return case when per_minute is null then 2147483647 else greatest(0, 1 + floor(
      extract(epoch from present - greatest(coalesce(next_at, '-infinity'), present - interval '1 second')) * per_minute / 60
    )::integer) end`
})
