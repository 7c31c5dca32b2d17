import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Deliveries that know of their lost leases and their breaker, and that leave the queue for a history kept by the day. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // replay: what an operator asked for again, which lets live traffic go ahead.
  yield* sql`
    alter table deliveries
      add column leased_at timestamptz,
      add column lost_leases integer not null default 0,
      add column replay boolean not null default false`
  // A row comes, is leased and goes within milliseconds: what remains of them is cleared up by the thousand, and not by the share.
  yield* sql`
    alter table deliveries set (
      autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0,
      autovacuum_analyze_threshold = 5000, autovacuum_analyze_scale_factor = 0.02
    )`
  yield* sql`drop index deliveries_due`
  yield* sql`create index deliveries_due on deliveries (endpoint_id, replay, due_at, id) where lease_until is null`
  yield* sql`
    create index deliveries_lost on deliveries (endpoint_id, due_at, id) where lease_until is null and lost_leases > 0`
  yield* sql`drop index deliveries_leased`
  yield* sql`create index deliveries_leased on deliveries (lease_until, endpoint_id) where lease_until is not null`
  yield* sql`drop function in_flight`
  yield* sql`alter table signing_secrets add column last_used_at timestamptz`

  // A row while an endpoint fails, or has just begun to answer again; a healthy endpoint has none.
  yield* sql`
    create table endpoint_breakers (
      endpoint_id text collate "C" primary key references webhook_endpoints,
      failures integer not null,
      allowance integer,
      probe_at timestamptz not null
    ) with (fillfactor = 50)`

  // Claims take turns, so that each counts what all others have taken, and the bounds hold to the call. A function, because the
  // statements of one see what was committed before each of them, and because a worker that stands still holds no turn.
  // known_* say where an endpoint's waiting rows begin, as far as the caller knows: what lies before was claimed, and is passed over.
  yield* sql`
    create function claim_deliveries(
      most integer, per_endpoint integer, in_all integer, lease_seconds double precision,
      most_secrets integer, known_endpoints text[], known_since timestamptz[]
    )
    returns table (
      organization_id text, id text, endpoint_id text, event_id text, attempt integer, lease_token uuid,
      leased_at double precision, due_at timestamptz, class integer, url text, body text, secrets jsonb
    )
    language plpgsql as $$
    #variable_conflict use_column
    declare
      -- One for all that a claim leases: with the delivery's id it is as good as one for each, and random bytes are slow to come by.
      token constant uuid := gen_random_uuid();
      -- A value, which an index can be searched for, where clock_timestamp() would have every row asked.
      present timestamptz;
    begin
      perform pg_advisory_xact_lock(hashtextextended('deliveries', 0));
      present := clock_timestamp();
      return query
      with flying as materialized (
        select endpoint_id, count(*) as calls from deliveries where lease_until >= present group by endpoint_id
      ), ready as materialized (
        select endpoint.id, endpoint.organization_id, coalesce(since, '-infinity') as since,
          least(per_endpoint, breaker.allowance) - coalesce(flying.calls, 0) as room
        from webhook_endpoints endpoint
        left join endpoint_breakers breaker on breaker.endpoint_id = endpoint.id
        left join flying on flying.endpoint_id = endpoint.id
        left join unnest(known_endpoints, known_since) as known (id, since) on known.id = endpoint.id
        where enabled and (breaker.probe_at is null or breaker.probe_at <= present)
          and exists (
            select from signing_secrets secret where secret.organization_id = endpoint.organization_id
              and (secret.expires_at is null or secret.expires_at > present))
      ), candidate as (
        select ready.organization_id, ready.id as endpoint_id, ready.room, waiting.*,
          row_number() over (partition by ready.id order by waiting.class, waiting.due_at, waiting.id) as turn
        from ready
        cross join lateral (
          (select ctid as place, id, due_at, 0 as class from deliveries
            where endpoint_id = ready.id and lease_until is null and lost_leases > 0 and due_at <= present
            order by due_at, id limit room)
          union all
          (select ctid, id, due_at, 1 from deliveries
            where endpoint_id = ready.id and lease_until is null and not replay and lost_leases = 0
              and due_at >= ready.since and due_at <= present
            order by due_at, id limit room)
          union all
          (select ctid, id, due_at, 2 from deliveries
            where endpoint_id = ready.id and lease_until is null and replay and lost_leases = 0 and due_at <= present
            order by due_at, id limit room)
        ) waiting
        where room > 0
      ), chosen as (
        select place, class, row_number() over (order by class = 2, round, due_at, id) as position
        from (
          select candidate.*,
            row_number() over (partition by organization_id, class = 2 order by turn, due_at) as round
          from candidate where turn <= room
        ) fair
        order by position
        limit least(most, greatest(0, in_all - (select coalesce(sum(calls), 0) from flying)))
      ), held as (
        select delivery.ctid as place, class, position
        from deliveries delivery join chosen on delivery.ctid = place
        where delivery.lease_until is null
        for update of delivery skip locked
      ), leased as (
        update deliveries delivery
        set lease_token = token, leased_at = present,
          lease_until = present + make_interval(secs => lease_seconds)
        from held
        where delivery.ctid = place
        returning delivery.*, held.class, held.position
      )
      select leased.organization_id, leased.id, leased.endpoint_id, leased.event_id, leased.attempts + 1, leased.lease_token,
        extract(epoch from leased.leased_at)::double precision * 1000, leased.due_at, leased.class, endpoint.url, event.body,
        -- With the first of an organization's deliveries alone.
        case when row_number() over (partition by leased.organization_id order by leased.position) = 1 then (
          select jsonb_agg(jsonb_build_object('ciphertext', encode(active.ciphertext, 'hex'),
            'expiresAt', extract(epoch from active.expires_at)::double precision * 1000))
          from (
            select ciphertext, expires_at from signing_secrets secret
            where secret.organization_id = leased.organization_id
              and (secret.expires_at is null or secret.expires_at > present)
            order by secret.id desc limit most_secrets
          ) active) end
      from leased
      join webhook_endpoints endpoint on endpoint.id = leased.endpoint_id
      join events event on event.organization_id = leased.organization_id and event.id = leased.event_id
      order by leased.position;
    end
    $$`

  // Seconds until the next probe: none before there is one, then 1, 2, 4 … up to the longest.
  yield* sql`
    create function probe_wait(past bigint, longest integer) returns double precision language sql immutable as $$
      select case when past < 0 then 0 else least(longest, 2 ^ least(past, 30)) end
    $$`

  // The attempts of what still waits; those of what is finished stand in its own row.
  yield* sql`alter table delivery_attempts drop constraint delivery_attempts_pkey`
  yield* sql`alter table delivery_attempts alter column latency_ms drop not null`
  yield* sql`alter table delivery_attempts add primary key (organization_id, delivery_id, number, started_at)`

  yield* sql`
    create table delivered (
      organization_id text collate "C" not null,
      id text collate "C" not null,
      endpoint_id text collate "C" not null,
      event_id text collate "C" not null,
      attempts jsonb not null,
      created_at timestamptz not null,
      finished_at timestamptz not null default clock_timestamp(),
      primary key (organization_id, id, finished_at)
    ) partition by range (finished_at)`
  yield* sql`create index delivered_by_id on delivered (id)`
  yield* sql`create table delivered_unsorted partition of delivered default`

  // The old index takes the table's name.
  yield* sql`drop index dead_letters`
  // Never dropped: a row leaves only when it is purged by name.
  yield* sql`
    create table dead_letters (
      organization_id text collate "C" not null,
      id text collate "C" not null,
      endpoint_id text collate "C" not null references webhook_endpoints,
      event_id text collate "C" not null,
      reason text not null check (reason in ('rejected', 'exhausted', 'poison')),
      attempts jsonb not null,
      created_at timestamptz not null,
      finished_at timestamptz not null default clock_timestamp(),
      replayed_as text collate "C",
      primary key (organization_id, id),
      foreign key (organization_id, event_id) references events
    )`

  // An attempt as it stands in the row of a finished delivery.
  yield* sql`
    create function attempt_json(
      number integer, started_at timestamptz, latency_ms integer, status integer, outcome text, response text
    )
    returns jsonb language sql stable as $$
      select jsonb_build_object('number', number,
        'startedAt', to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'latencyMs', latency_ms, 'status', status, 'outcome', outcome, 'response', response)
    $$`
  // How many of the schedule's attempts are among those recorded.
  yield* sql`
    create function attempts_made(attempts jsonb) returns integer language sql immutable as $$
      select count(*)::integer from jsonb_array_elements(attempts) attempt where attempt->>'outcome' <> 'outcome_unknown'
    $$`

  const attempts = sql.literal(`coalesce((
    select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at) from delivery_attempts attempt
    where attempt.organization_id = finished.organization_id and attempt.delivery_id = finished.id), '[]')`)
  yield* sql`
    insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at, finished_at)
    select organization_id, id, endpoint_id, event_id, ${attempts}, created_at, finished_at
    from finished_deliveries finished where state = 'delivered'`
  yield* sql`
    insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, created_at, finished_at, replayed_as)
    select organization_id, id, endpoint_id, event_id, state, ${attempts}, created_at, finished_at, replayed_as
    from finished_deliveries finished where state <> 'delivered'`
  yield* sql`
    delete from delivery_attempts attempt using finished_deliveries finished
    where attempt.organization_id = finished.organization_id and attempt.delivery_id = finished.id`
  yield* sql`drop table finished_deliveries`
  yield* sql`create index dead_letters_to_replay on dead_letters (finished_at, id) where replayed_as is null`
  yield* sql`create index dead_letters_by_id on dead_letters (id)`
})
