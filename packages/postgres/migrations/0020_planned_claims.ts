import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Claims that are planned once for a connection; and one of deliveries that reads none of what earlier leases left behind. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // In the order in which leases are made, which is the order in which what remains of them can be passed over: some are held for the
  // whole deadline, and until they end all that was leased and settled since then would be read, 30 seconds' worth of it.
  yield* sql`drop index deliveries_leased`
  yield* sql`create index deliveries_leased on deliveries (leased_at) where lease_until is not null`
  yield* sql`
    drop function claim_deliveries(integer, integer, integer, double precision, integer, text[], timestamptz[])`
  // Planning takes a third of the time of a claim of 128, and PostgreSQL, which takes the plan that knows the limits for the better
  // one, would do so at each. The plan that is kept must not read the whole queue, however short it was when it was made.
  // known_leases says when the oldest lease was made, as far as the caller knows, and each claim answers it, in one row without a
  // delivery if there is none.
  yield* sql`
    create function claim_deliveries(
      most integer, per_endpoint integer, in_all integer, lease_seconds double precision,
      most_secrets integer, known_endpoints text[], known_since timestamptz[], known_leases timestamptz
    )
    returns table (
      oldest_lease timestamptz,
      organization_id text, id text, endpoint_id text, event_id text, attempt integer, lease_token uuid,
      leased_at double precision, due_at timestamptz, class integer, url text, body text, traceparent text, secrets jsonb
    )
    language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
    #variable_conflict use_column
    declare
      -- One for all that a claim leases: with the delivery's id it is as good as one for each, and random bytes are slow to come by.
      token constant uuid := gen_random_uuid();
      -- A value, which an index can be searched for, where clock_timestamp() would have every row asked.
      present timestamptz;
      leases_since timestamptz;
    begin
      perform pg_advisory_xact_lock(hashtextextended('deliveries', 0));
      present := clock_timestamp();
      -- What is known is worth nothing once the clock was set back.
      leases_since := case when known_leases <= present then known_leases else '-infinity' end;
      return query
      with leased_before as materialized (
        select endpoint_id, leased_at, lease_until from deliveries where lease_until is not null and leased_at >= leases_since
      ), flying as materialized (
        select endpoint_id, count(*) as calls from leased_before where lease_until >= present group by endpoint_id
      ), ready as materialized (
        select endpoint.id, endpoint.organization_id, case when since <= present then since else '-infinity' end as since,
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
        select ready.organization_id, waiting.*
        from ready
        cross join lateral (
          select *, row_number() over (order by class, due_at, id) as turn
          from (
            (select ctid as place, id, due_at, 0 as class from deliveries
              where endpoint_id = ready.id and lease_until is null and lost_leases > 0 and due_at <= present
              order by due_at, id limit least(room, most))
            union all
            (select ctid, id, due_at, 1 from deliveries
              where endpoint_id = ready.id and lease_until is null and not replay and lost_leases = 0
                and due_at >= ready.since and due_at <= present
              order by due_at, id limit least(room, most))
            union all
            (select ctid, id, due_at, 2 from deliveries
              where endpoint_id = ready.id and lease_until is null and replay and lost_leases = 0 and due_at <= present
              order by due_at, id limit least(room, most))
          ) due
          order by turn limit least(room, most)
        ) waiting
        where room > 0
      ), chosen as (
        select place, class, row_number() over (order by class = 2, round, due_at, id) as position
        from (
          select candidate.*, row_number() over (partition by organization_id, class = 2 order by turn, due_at) as round
          from candidate
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
      select oldest.lease, leased.organization_id, leased.id, leased.endpoint_id, leased.event_id, leased.attempts + 1,
        leased.lease_token, extract(epoch from leased.leased_at)::double precision * 1000, leased.due_at, leased.class, endpoint.url,
        event.body, event.traceparent,
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
      from (select coalesce(min(leased_at), present) as lease from leased_before) oldest
      left join (
        leased
        join webhook_endpoints endpoint on endpoint.id = leased.endpoint_id
        join events event on event.organization_id = leased.organization_id and event.id = leased.event_id
      ) on true
      order by leased.position;
    end
    $$`
  yield* sql`
    alter function claim_messages(integer, integer, double precision, integer, integer)
      set plan_cache_mode = force_generic_plan set enable_seqscan = off`
})
