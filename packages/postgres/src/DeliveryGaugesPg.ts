import {
  COUNTED_TO,
  DeliveryGauges,
  type DueReading,
  type StateReading,
} from "@outreach/domain/deliveries/DeliveryGauges"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"

/**
 * Reads the gauges from PostgreSQL.
 *
 * `statement_timestamp()` rather than `clock_timestamp()`, which no index serves: what is not due is never looked at. A role without
 * `pg_monitor` sees the transactions of its own role alone.
 */
export const DeliveryGaugesPg = Layer.effect(
  DeliveryGauges,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
      readDue: sql<{ reading: DueReading }>`
        with lane as materialized (
          select endpoint.id, replay, first.due_at,
            case when replay then 'replay' when breaker.allowance is null then 'live' else 'probed' end as queue
          from webhook_endpoints endpoint
          left join endpoint_breakers breaker on breaker.endpoint_id = endpoint.id
          cross join (values (false), (true)) as kind (replay)
          cross join lateral (
            select due_at from deliveries
            where endpoint_id = endpoint.id and replay = kind.replay and lease_until is null and due_at <= statement_timestamp()
            order by due_at limit 1
          ) first
          where enabled
        ), counted as (
          select queue, count(*) as count from (
            select queue from lane
            cross join lateral (
              select from deliveries
              where endpoint_id = lane.id and replay = lane.replay and lease_until is null
                -- From the first on: what remains of the rows before it was stepped over once already.
                and due_at >= lane.due_at and due_at <= statement_timestamp()
              offset 0
            ) each
            limit ${COUNTED_TO}::int
          ) due group by queue
        ), oldest as (
          select queue, min(due_at) as due_at from lane group by queue
        ), sending as materialized (
          select organization_id, id, first.due_at from campaigns
          cross join lateral (
            select due_at from messages
            where organization_id = campaigns.organization_id and campaign_id = campaigns.id and due_at <= statement_timestamp()
              and (lease_until is null or lease_until < statement_timestamp())
            order by due_at limit 1
          ) first
          where status = 'sending' and window_start <= statement_timestamp() and window_end > statement_timestamp()
        ), message as (
          select count(*) as count from (
            select from sending
            cross join lateral (
              select from messages
              where organization_id = sending.organization_id and campaign_id = sending.id
                and messages.due_at >= sending.due_at and messages.due_at <= statement_timestamp()
                and (lease_until is null or lease_until < statement_timestamp())
              offset 0
            ) each
            limit ${COUNTED_TO}::int
          ) due
        ), receiving as materialized (
          select organization.id, first.received_at from organizations organization
          cross join lateral (
            select received_at from inbox
            where organization_id = organization.id and applied_at is null and set_aside_at is null
            order by received_at limit 1
          ) first
        ), received as (
          select count(*) as count from (
            select from receiving
            cross join lateral (
              select from inbox
              where organization_id = receiving.id and applied_at is null and set_aside_at is null
                and inbox.received_at >= receiving.received_at
              offset 0
            ) each
            limit ${COUNTED_TO}::int
          ) waiting
        ), hitting as materialized (
          select organization.id, first.received_at from organizations organization
          cross join lateral (
            select received_at from hits where organization_id = organization.id and judged_at is null
            order by received_at limit 1
          ) first
        ), hit as (
          select count(*) as count from (
            select from hitting
            cross join lateral (
              select from hits
              where organization_id = hitting.id and judged_at is null and hits.received_at >= hitting.received_at
              offset 0
            ) each
            limit ${COUNTED_TO}::int
          ) waiting
        ), unsubscribing as materialized (
          select asked_at from unsubscriptions where suppressed_at is null order by asked_at limit ${COUNTED_TO}::int
        )
        select jsonb_build_object(
          'hits', jsonb_build_object('count', (select count from hit),
            'oldestSeconds', coalesce(extract(epoch from statement_timestamp() - (select min(received_at) from hitting)), 0)),
          'unsubscriptions', jsonb_build_object('count', (select count(*) from unsubscribing),
            'oldestSeconds', coalesce(extract(epoch from statement_timestamp() - (select min(asked_at) from unsubscribing)), 0)),
          'inbox', jsonb_build_object('count', (select count from received),
            'oldestSeconds', coalesce(extract(epoch from statement_timestamp() - (select min(received_at) from receiving)), 0)),
          'deliveries', (
            select jsonb_object_agg(queue, jsonb_build_object('count', coalesce(counted.count, 0),
              'oldestSeconds', coalesce(extract(epoch from statement_timestamp() - oldest.due_at), 0)))
            from unnest(array['live', 'probed', 'replay']) as queue left join counted using (queue) left join oldest using (queue)
          ),
          'messages', jsonb_build_object('count', (select count from message),
            'oldestSeconds', coalesce(extract(epoch from statement_timestamp() - (select min(due_at) from sending)), 0))
        ) as reading`.pipe(
        Effect.map((rows) => rows[0]!.reading),
        dieNaming("DeliveryGauges.readDue"),
      ),

      readState: sql<{ reading: StateReading }>`
        with dead as (
          select reason, count(*) as count from (
            select reason from dead_letters where replayed_as is null
            order by finished_at desc limit ${COUNTED_TO}::int
          ) newest group by reason
        ), holder (name, transactions, since) as (
          select 'session', max(age(backend_xmin)), min(xact_start) from pg_stat_activity
          where backend_xmin is not null and pid <> pg_backend_pid() and (datname = current_database() or datname is null)
          union all
          select 'replication_slot', max(age(xmin)), null from pg_replication_slots
          union all
          select 'prepared_transaction', max(age(transaction)), min(prepared) from pg_prepared_xacts where database = current_database()
        )
        select jsonb_build_object(
          'inFlight', (select count(*) from deliveries where lease_until >= statement_timestamp()),
          'breakersOpen', (select count(*) from endpoint_breakers where allowance is not null),
          'deadLetters', (
            select jsonb_object_agg(reason, coalesce(dead.count, 0))
            from unnest(array['rejected', 'exhausted', 'poison']) as reason left join dead using (reason)
          ),
          'messagesQuarantined', (
            select count(*) from (
              select from messages where quarantined_at is not null limit ${COUNTED_TO}::int
            ) quarantined
          ),
          'inboxSetAside', (
            select count(*) from (select from inbox where set_aside_at is not null limit ${COUNTED_TO}::int) aside
          ),
          'queue', (
            select jsonb_build_object('rows', n_live_tup, 'deadRows', n_dead_tup)
            from pg_stat_user_tables where relid = 'deliveries'::regclass
          ),
          'horizon', (
            select jsonb_object_agg(name, jsonb_build_object('transactions', coalesce(transactions, 0),
              'seconds', coalesce(extract(epoch from statement_timestamp() - since), 0)))
            from holder
          )
        ) as reading`.pipe(
        Effect.map((rows) => rows[0]!.reading),
        dieNaming("DeliveryGauges.readState"),
      ),
    }
  }),
)
