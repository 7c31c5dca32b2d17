import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Endpoints that read their organization's log; a delivery has a row of its own only once something went wrong. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Waits for whoever is publishing. Who comes after reads or writes nothing of the deliveries until this is committed.
  yield* sql`lock table deliveries, webhook_endpoints in access exclusive mode`

  // A worker is alive while this lies ahead of the clock, and not far ahead: a clock that was set back would keep the dead alive.
  yield* sql`
    create table delivery_workers (
      token uuid primary key,
      alive_until timestamptz not null,
      stopping boolean not null default false
    ) with (fillfactor = 50)`
  // Calls may have begun for every event up to begun_*, and those of them that are not settled stand in open.
  // A row of deliveries is settled here: it has its own state. failures, allowance and probe_at are the breaker's.
  // Open events stay in the row, uncompressed: it is written many times a second.
  yield* sql`
    create table endpoint_readers (
      endpoint_id text collate "C" primary key references webhook_endpoints,
      organization_id text collate "C" not null references organizations,
      begun_at timestamptz not null,
      begun_id text collate "C" not null,
      open text[] not null default '{}',
      intended_at timestamptz,
      owner uuid,
      failures integer not null default 0,
      allowance integer,
      probe_at timestamptz
    ) with (fillfactor = 50, toast_tuple_target = 8160)`
  yield* sql`create index endpoint_readers_of_organization on endpoint_readers (organization_id)`
  // What was published until now has its rows, so each endpoint begins where its organization's clock stands.
  yield* sql`
    insert into endpoint_readers (endpoint_id, organization_id, begun_at, begun_id, failures, allowance, probe_at)
    select endpoint.id, endpoint.organization_id, clock.last, '~', coalesce(failures, 0), allowance, probe_at
    from webhook_endpoints endpoint
    join organization_clock clock on clock.organization_id = endpoint.organization_id
    left join endpoint_breakers breaker on breaker.endpoint_id = endpoint.id`
  yield* sql`drop table endpoint_breakers`
  yield* sql`drop function probe_wait`
  yield* sql`alter table webhook_endpoints add column max_in_flight integer check (max_in_flight > 0)`

  // A worker of the release before finds no function to claim with, and nothing to settle.
  yield* sql`
    drop function claim_deliveries(
      integer, integer, integer, double precision, integer, text[], timestamptz[], timestamptz)`
  yield* sql`
    insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
    select organization_id, id, attempts + 1, leased_at, 'outcome_unknown' from deliveries where lease_until is not null`
  // owner: the worker whose call may be in flight. losses: how many workers were lost with such a call.
  yield* sql`alter table deliveries rename column lost_leases to losses`
  yield* sql`
    alter table deliveries
      drop column lease_token,
      drop column lease_until,
      drop column leased_at,
      add column owner uuid,
      add column owned_at timestamptz,
      add column from_log boolean not null default false`
  yield* sql`create index deliveries_due on deliveries (endpoint_id, replay, due_at, id) where owner is null`
  yield* sql`create index deliveries_lost on deliveries (endpoint_id, due_at, id) where owner is null and losses > 0`
  yield* sql`create index deliveries_owned on deliveries (owner) where owner is not null`
  yield* sql`create index deliveries_by_id on deliveries (id)`
  // A process of the release before still writes a row for each event and endpoint; the endpoint's reader comes upon the event itself.
  yield* sql`
    create function keep_trouble_only() returns trigger language plpgsql as $$
    begin
      return case when new.from_log or new.replay then new end;
    end
    $$`
  yield* sql`
    create trigger keep_trouble_only before insert on deliveries for each row execute function keep_trouble_only()`

  // A row with deliveries is that of many, which arrived at their first attempt; its id is the last of theirs.
  yield* sql`
    alter table delivered
      alter column event_id drop not null,
      alter column attempts drop not null,
      alter column created_at drop not null,
      add column first_id text collate "C",
      add column deliveries json`

  // One index serves the feed and the deliveries.
  yield* sql`drop index events_feed`

  // An id that event and endpoint alone decide: a UUIDv7 (RFC 9562 5.7) of the event's time, the rest a hash.
  yield* sql`
    create function delivery_id(event_id text, endpoint_id text) returns text language sql immutable as $$
      -- One expression, which is put into the statements that call it: a call of its own costs thirty times as much.
      select 'dlv_' || substr(event_id, 5, 12) || '7'
        || overlay(substr(encode(sha256((event_id || endpoint_id)::bytea), 'hex'), 1, 18) placing 'b' from 4 for 0)
    $$`

  // The ids of the secrets that sign now, the newest first; null when there is none: nothing is sent unsigned.
  yield* sql`
    create function active_secrets(organization text, most integer) returns text language sql volatile as $$
      select string_agg(id, ',' order by id desc) from (
        select id from signing_secrets
        where organization_id = organization and (expires_at is null or expires_at > clock_timestamp())
        order by id desc limit most
      ) active
    $$`

  // Reads on in the logs of these endpoints, behind where calls may have begun. A function, because planning it takes longer than it does.
  // Without an order of the whole, which would sort the bodies: each endpoint's come in the order of the index.
  yield* sql`
    create function read_logs(worker uuid, endpoints text[], limits integer[], max_secrets integer)
    returns table (
      endpoint_id text, organization_id text, url text, event_id text, body text, traceparent text, emitted_at timestamptz,
      read_at double precision, secret_ids text
    )
    language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
      set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off as $$
    #variable_conflict use_column
    begin
      return query
      select reader.endpoint_id, reader.organization_id, url, event.id, body, traceparent, emitted_at,
        extract(epoch from clock_timestamp())::double precision * 1000, secrets.ids
      from unnest(endpoints, limits) as wanted (id, max_rows)
      join endpoint_readers reader on reader.endpoint_id = wanted.id
      join webhook_endpoints endpoint on endpoint.id = wanted.id
      cross join lateral active_secrets(reader.organization_id, max_secrets) as secrets (ids)
      cross join lateral (
        (select id, emitted_at, body, traceparent from events
          where event_types is null and organization_id = reader.organization_id and (emitted_at, id) > (begun_at, begun_id)
          order by emitted_at, id limit wanted.max_rows)
        union all
        (select each.* from unnest(event_types) as type_of (type)
          cross join lateral (
            select id, emitted_at, body, traceparent from events
            where organization_id = reader.organization_id and type = type_of.type
              and (emitted_at, id) > (begun_at, begun_id)
            -- By the type, too, so that a rare one is looked for in events_by_type, as the feed does.
            order by type, emitted_at, id limit wanted.max_rows
          ) each
          order by emitted_at, id limit wanted.max_rows)
      ) event
      where owner = worker and enabled and secrets.ids is not null;
    end
    $$`

  // Takes the rows of these endpoints that are due: first what was lost with a worker, then what falls due first, and replays last.
  // A row that was lost several times is taken alone, because it may be what its workers died of.
  yield* sql`
    create function take_due(worker uuid, endpoints text[], most integer[], alone_from integer, most_secrets integer)
    returns table (
      endpoint_id text, organization_id text, url text, id text, event_id text, body text, traceparent text, attempt integer,
      replay boolean, losses integer, taken_at double precision, secret_ids text
    )
    language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
    #variable_conflict use_column
    declare
      present constant timestamptz := clock_timestamp();
    begin
      return query
      with due as materialized (
        select found.*
        from unnest(endpoints, most) as wanted (id, most)
        join endpoint_readers reader on reader.endpoint_id = wanted.id and reader.owner = worker
        join webhook_endpoints endpoint on endpoint.id = wanted.id and enabled
          and active_secrets(endpoint.organization_id, most_secrets) is not null
        cross join lateral (
          select *, row_number() over (order by class, due_at, id) as turn, min(class) over () as first_class
          from (
            (select ctid as place, id, due_at, case when losses >= alone_from then 0 else 1 end as class from deliveries
              where endpoint_id = wanted.id and owner is null and losses > 0 and due_at <= present
              order by due_at, id limit wanted.most)
            union all
            (select ctid, id, due_at, 2 from deliveries
              where endpoint_id = wanted.id and owner is null and not replay and losses = 0 and due_at <= present
              order by due_at, id limit wanted.most)
            union all
            (select ctid, id, due_at, 3 from deliveries
              where endpoint_id = wanted.id and owner is null and replay and losses = 0 and due_at <= present
              order by due_at, id limit wanted.most)
          ) waiting
        ) found
        where turn <= case when first_class = 0 then 1 else wanted.most end
      ), taken as (
        update deliveries set owner = worker, owned_at = present
        from due where deliveries.ctid = place and deliveries.owner is null
        returning deliveries.*, class, due.due_at as fell_due_at
      )
      select taken.endpoint_id, taken.organization_id, endpoint.url, taken.id, taken.event_id, event.body, event.traceparent,
        taken.attempts + 1, taken.replay, taken.losses, extract(epoch from present)::double precision * 1000,
        active_secrets(taken.organization_id, most_secrets)
      from taken
      join webhook_endpoints endpoint on endpoint.id = taken.endpoint_id
      join events event on event.organization_id = taken.organization_id and event.id = taken.event_id
      order by class, fell_due_at, taken.id;
    end
    $$`

  // When the first row of each endpoint that has any is due, whoever owns the endpoint: as many steps through the index as there are such
  // endpoints, so that those with nothing due cost nothing.
  yield* sql`
    create function first_due()
    returns table (endpoint_id text, due_at timestamptz)
    language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
      set enable_sort = off as $$
    #variable_conflict use_column
    begin
      return query
      with recursive first_of as (
        (select endpoint_id, replay, due_at from deliveries where owner is null order by endpoint_id, replay, due_at limit 1)
        union all
        select next.* from first_of
        cross join lateral (
          select endpoint_id, replay, due_at from deliveries
          where owner is null and (endpoint_id, replay) > (first_of.endpoint_id, first_of.replay)
          order by endpoint_id, replay, due_at limit 1
        ) next
      )
      select endpoint_id, min(due_at) from first_of group by endpoint_id;
    end
    $$`

  // Writes the intent to call, and what came of calls: of each endpoint up to where calls may have begun and what is open of it, many
  // deliveries that arrived as one row, and each that did not.
  // Returns the endpoints, and the rows of deliveries, that are no longer the worker's: of those nothing was written.
  yield* sql`
    create function write_progress(
      worker uuid, endpoints text[], still_open text[], places text[], place_ids text[],
      breaker_endpoints text[], failures integer[], allowances integer[], probe_waits integer[],
      batch_endpoints text[], first_ids text[], last_ids text[], batches text[], troubles jsonb
    )
    returns setof text
    language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
    #variable_conflict use_column
    declare
      held text[];
    begin
      with moved as (
        update endpoint_readers reader set open = coalesce(string_to_array(nullif(progress.still_open, ''), ','), '{}'),
          (begun_at, begun_id) = (
            -- An operator may have moved it on meanwhile.
            select at, id from (values (begun_at, begun_id), (nullif(place, '')::timestamptz, place_id)) as either (at, id)
            where at is not null order by at desc, id collate "C" desc limit 1
          ),
          intended_at = case when place = '' then intended_at else clock_timestamp() end
        from unnest(endpoints, still_open, places, place_ids) as progress (id, still_open, place, place_id)
        where reader.endpoint_id = progress.id and owner = worker
        returning reader.endpoint_id
      )
      select coalesce(array_agg(endpoint_id), '{}') into held from moved;

      if cardinality(breaker_endpoints) > 0 then
        update endpoint_readers reader set failures = breaker.failures, allowance = breaker.allowance,
          probe_at = clock_timestamp() + make_interval(secs => breaker.probe_wait / 1000.0)
        from unnest(breaker_endpoints, write_progress.failures, allowances, probe_waits) as breaker (id, failures, allowance, probe_wait)
        where reader.endpoint_id = breaker.id and owner = worker;
      end if;

      if cardinality(batch_endpoints) > 0 then
        insert into delivered (organization_id, id, endpoint_id, first_id, deliveries)
        select organization_id, last_id, batch.endpoint_id, first_id, deliveries::json
        from unnest(batch_endpoints, first_ids, last_ids, batches) as batch (endpoint_id, first_id, last_id, deliveries)
        join endpoint_readers using (endpoint_id)
        where batch.endpoint_id = any (held);
      end if;

      return query select id from unnest(endpoints) as given (id) where id <> all (held);
      if jsonb_array_length(troubles) > 0 then
        return query select * from write_troubles(worker, held, troubles);
      end if;
    end
    $$`

  yield* sql`
    create function write_troubles(worker uuid, held text[], troubles jsonb) returns setof text
    language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
    #variable_conflict use_column
    begin
      return query
      with trouble as materialized (
        select * from jsonb_to_recordset(troubles) as trouble (
          "isRow" boolean, "organizationId" text, id text, "endpointId" text, "eventId" text, state text, delay double precision,
          attempt jsonb)
      ), ours as materialized (
        -- Found one by one through the primary key, however few rows the planner takes the table to have.
        select trouble.*, "eventId" as event, "endpointId" as endpoint, row.*
        from trouble cross join lateral (
          select ctid as place, created_at, attempts, losses from deliveries
          where organization_id = "organizationId" and id = trouble.id and owner = worker
          offset 0
        ) row
        where "isRow"
      ), added as (
        insert into deliveries (organization_id, id, endpoint_id, event_id, attempts, due_at, from_log)
        select "organizationId", id, "endpointId", "eventId", (attempt->>'number')::int,
          clock_timestamp() + make_interval(secs => delay), true
        from trouble where not "isRow" and state = 'retry' and "endpointId" = any (held)
        -- Written before, by a statement of which nobody heard.
        on conflict do nothing
        returning organization_id, id
      ), retried as (
        update deliveries set attempts = (attempt->>'number')::int, owner = null, owned_at = null, losses = 0,
          due_at = clock_timestamp() + make_interval(secs => delay)
        from ours where state = 'retry' and deliveries.ctid = place and deliveries.owner = worker
        returning deliveries.organization_id, deliveries.id
      ), noted as (
        insert into delivery_attempts (organization_id, delivery_id, number, started_at, latency_ms, status, outcome, response)
        select organization_id, each.id, (attempt->>'number')::int, (attempt->>'startedAt')::timestamptz,
          (attempt->>'latencyMs')::int, (attempt->>'status')::int, attempt->>'outcome', attempt->>'response'
        from (select * from added union all select * from retried) each
        join trouble on trouble."organizationId" = each.organization_id and trouble.id = each.id
      ), finished as (
        delete from deliveries using ours
        where state <> 'retry' and deliveries.ctid = place and deliveries.owner = worker
        returning ours.*
      ), earlier as (
        delete from delivery_attempts made using finished
        where made.organization_id = "organizationId" and made.delivery_id = finished.id and (attempts > 0 or losses > 0)
        returning made.*
      ), history as (
        select "organizationId" as organization_id, id, "endpointId" as endpoint_id, "eventId" as event_id, state, created_at,
          coalesce((
            select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at)
            from earlier where earlier.organization_id = "organizationId" and earlier.delivery_id = finished.id
          ), '[]') || attempt as attempts
        from finished
        union all
        select "organizationId", id, "endpointId", "eventId", state, clock_timestamp(), jsonb_build_array(attempt)
        from trouble where not "isRow" and state <> 'retry' and "endpointId" = any (held)
      ), kept as (
        insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
        select organization_id, id, endpoint_id, event_id, attempts, created_at from history where state = 'delivered'
      ), dead as (
        insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, created_at)
        select organization_id, id, endpoint_id, event_id, state, attempts, created_at from history where state <> 'delivered'
        on conflict do nothing
      )
      select id from trouble where "isRow" and not exists (
        select from (select organization_id, id from retried union all select "organizationId", id from finished) settled
        where settled.organization_id = "organizationId" and settled.id = trouble.id);
    end
    $$`

  // The first events of a log after a place that match the types, in order; a range of one index for all types, or of one for each.
  yield* sql`
    create function events_after(
      organization text, types text[], after_at timestamptz, after_id text, before timestamptz, most integer
    )
    returns table (id text, type text, emitted_at timestamptz)
    language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
      set enable_sort = off as $$
    #variable_conflict use_column
    begin
      if types is null then
        return query
        select id, type, emitted_at from events
        where organization_id = organization and (emitted_at, id) > (after_at, after_id) and emitted_at < before
        order by emitted_at, id limit most;
      else
        return query
        select each.* from (select distinct type from unnest(types) as given (type)) wanted
        cross join lateral (
          select id, wanted.type, emitted_at from events
          where organization_id = organization and type = wanted.type and (emitted_at, id) > (after_at, after_id)
            and emitted_at < before
          order by type, emitted_at, id limit most
        ) each
        order by emitted_at, id limit most;
      end if;
    end
    $$`
  // The newest deliveries that wait in an endpoint's log, by id below another and of events between two ids. At least as many as are
  // asked for, because deliveries of one millisecond are in another order than their events. Few are read in the log's own
  // order; of many the newest are found by id, where few would have the whole log read for them.
  yield* sql`
    create function deliveries_in_log(
      organization text, endpoint text, types text[], after_at timestamptz, after_id text, lowest text, highest text, before text,
      most integer
    )
    returns table (id text, event_id text, emitted_at timestamptz)
    language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
    #variable_conflict use_column
    declare
      few constant integer := 1000;
      below constant text := substr(before, 5, 12);
      since text;
    begin
      if (select count(*) from events_after(organization, types, after_at, after_id, 'infinity', few + 1)) <= few then
        return query
        select delivery_id(id, endpoint), id, emitted_at from (
          select id collate "C" as id, emitted_at from events_after(organization, types, after_at, after_id, 'infinity', few)
        ) each
        where id >= lowest and id <= highest
          and (substr(id, 5, 12) < below or delivery_id(id, endpoint) collate "C" < before)
        order by substr(id, 5, 12) desc fetch first most rows with ties;
      else
        select substr(id, 1, 16) into since from events
        where organization_id = organization and id >= lowest and id <= highest and (emitted_at, id) > (after_at, after_id)
          and (types is null or type = any (types))
          and (substr(id, 5, 12) < below or delivery_id(id, endpoint) collate "C" < before)
        order by id desc offset most - 1 limit 1;
        return query
        select delivery_id(id, endpoint), id, emitted_at from events
        where organization_id = organization and id >= greatest(lowest, since) and id <= highest
          and (emitted_at, id) > (after_at, after_id) and (types is null or type = any (types))
          and (substr(id, 5, 12) < below or delivery_id(id, endpoint) collate "C" < before);
      end if;
    end
    $$`

  // A job replays dead letters, or a range of its endpoint's log: from_at and to_at are when they were set aside, or published.
  // A worker of the release before finds other columns, and touches no job.
  yield* sql`alter table replay_jobs rename column set_aside_from to from_at`
  yield* sql`alter table replay_jobs rename column set_aside_to to to_at`
  yield* sql`
    alter table replay_jobs
      add column kind text not null default 'dead_letters' check (kind in ('dead_letters', 'log')),
      add column organization_id text collate "C",
      add column event_types text[],
      add column before_at timestamptz`
  yield* sql`update replay_jobs set before_at = least(to_at, created_at)`
  yield* sql`alter table replay_jobs alter column before_at set not null`
})
