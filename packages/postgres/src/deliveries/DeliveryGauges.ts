import { COUNT_CAP } from "@outreach/domain/countCaps"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Schema, Struct } from "effect"
import { DatabaseService } from "../adapter.ts"
import { complainedCampaigns } from "../campaigns/complainedCampaigns.ts"
import { only, rowsOf } from "../rowsOf.ts"

/**
 * Queues of due deliveries: `live` deliveries wait for their turn, `probed` ones for a failing endpoint that only receives probes, and
 * `replay` ones were requested by an operator.
 */
export const DUE_QUEUES = ["live", "probed", "replay"] as const

/** Causes that keep the database from vacuuming deleted rows. */
const HORIZON_HOLDERS = ["session", "replication_slot", "prepared_transaction"] as const

/** The number of due rows, and the time in seconds since the first was due; 0 if there are none. */
const Due = Schema.Struct({ count: Schema.Int, oldestSeconds: Schema.Number })
export type Due = typeof Due.Type

/** The due deliveries of a queue, and the lag of its slowest endpoint. */
const DueDeliveries = Schema.Struct({
  ...Due.fields,
  /** The longest backlog of one endpoint (log or replays), among the `LAGS_COUNTED` that have waited longest. */
  maxLagEvents: Schema.Int,
  /** The longest time that a delivery has waited, over all endpoints. */
  maxLagSeconds: Schema.Number,
})
export type DueDeliveries = typeof DueDeliveries.Type

/** Due work that isn't in flight. */
const DueReading = Schema.Struct({
  /** Deliveries to enabled endpoints, counted up to `COUNT_CAP` per queue. Deliveries to disabled endpoints aren't due. */
  deliveries: Schema.Record(Schema.Literals(DUE_QUEUES), DueDeliveries),
  /** Deliveries that a worker has claimed. */
  inFlight: Schema.Int,
  /** E-mails of campaigns in their send window, with the time since each could be sent. */
  messages: Due,
  /** Inbound events that aren't applied yet, with the time since their receipt. */
  inbox: Due,
  /** Hits that aren't classified yet, with the time since their receipt. */
  hits: Due,
  /** Recipients who unsubscribed and aren't suppressed yet. */
  unsubscriptions: Due,
})
export type DueReading = typeof DueReading.Type

/** Further states of deliveries, and the causes that keep the database from vacuuming. */
const StateReading = Schema.Struct({
  breakersOpen: Schema.Int,
  /** Endpoints that have failed for a day or were disabled for that; `some` if their organization has contacts, `none` if not. */
  endpointsFailing: Schema.Struct({ some: Schema.Int, none: Schema.Int }),
  /** The largest lead in seconds of an organization's clock over the database's clock. Timestamps continue from the organization's clock. */
  clockAheadSeconds: Schema.Number,
  /** Why a worker currently doesn't trust the database's clock; null if all do. */
  clockDoubt: Schema.NullOr(Schema.String),
  /** Dead letters that weren't replayed, without muted groups of failures. */
  deadLetters: Schema.Record(Schema.Literals(DEAD_LETTER_REASONS), Schema.Int),
  /** E-mails with an unknown outcome, which aren't retried. */
  messagesQuarantined: Schema.Int,
  /** Campaigns that reached the lower (`raised`) or the upper (`high`) complaint threshold of mailbox providers in the last seven days. */
  campaignsComplained: Schema.Struct({ raised: Schema.Int, high: Schema.Int }),
  inboxQuarantined: Schema.Int,
  /** The live and dead rows of the delivery queue, according to the database's statistics. */
  queue: Schema.Struct({ rows: Schema.Int, deadRows: Schema.Int }),
  horizon: Schema.Record(
    Schema.Literals(HORIZON_HOLDERS),
    Schema.Struct({ transactions: Schema.Int, seconds: Schema.Number }),
  ),
})
export type StateReading = typeof StateReading.Type

/** State for the next reading: only endpoints of busy organizations can have a lag or deliveries in flight. */
const Baseline = Schema.Struct({ snapshot: Schema.String, busy: Schema.Array(OrganizationId) })
const due = rowsOf(Due).json
const dueRows = rowsOf(Schema.Struct({ ...DueReading.fields, baseline: Baseline }), {
  deliveries: `(select jsonb_object_agg(queue, ${rowsOf(DueDeliveries).json}) from deliveries_due)`,
  inFlight: `((select coalesce(sum(cardinality(open)), 0) from position)
    + (select count(*) from deliveries where owner is not null))::int`,
  messages: `(select ${due} from messages_due)`,
  inbox: `(select ${due} from inbox_due)`,
  hits: `(select ${due} from hits_due)`,
  unsubscriptions: `(select ${due} from unsubscriptions_due)`,
  baseline: rowsOf(Baseline, {
    snapshot: "pg_snapshot_xmin(pg_current_snapshot())::text",
    busy: `(
      select coalesce(jsonb_agg(distinct organization_id), '[]')
      from (select organization_id from reader union all select organization_id from position where open <> '{}') each)`,
  }).json,
})

const { queue, horizon } = StateReading.fields
const stateRows = rowsOf(StateReading, {
  breakersOpen: "(select count(*)::int from endpoint_readers where allowance is not null)",
  endpointsFailing: `(
    select jsonb_build_object('some', count(*) filter (where contacts <> '{}'), 'none', count(*) filter (where contacts = '{}'))
    from endpoint_readers join webhook_endpoints endpoint on endpoint.id = endpoint_id
    join organizations organization on organization.id = endpoint.organization_id
    where notices > 0 and (enabled or disabled_reason = 'failing'))`,
  clockAheadSeconds: `(
    select coalesce(greatest(0, extract(epoch from max(last) - statement_timestamp())), 0)::double precision from organization_clock)`,
  // A worker that doubts the clock reports it every 10 s.
  clockDoubt: `(
    select doubt from clock_watch
    where doubted_at between clock_timestamp() - interval '1 minute' and clock_timestamp() + interval '1 minute')`,
  deadLetters: `(
    select jsonb_build_object('rejected', coalesce(sum(rejected), 0), 'exhausted', coalesce(sum(exhausted), 0),
      'poison', coalesce(sum(poison), 0))
    from failure_groups where open > 0 and muted_at is null)`,
  messagesQuarantined: `(
    select count(*)::int from (select from messages where quarantined_at is not null limit ${COUNT_CAP}) quarantined)`,
  campaignsComplained: `(
    select jsonb_build_object('raised', count(*) filter (where not is_high), 'high', count(*) filter (where is_high)) from complained)`,
  inboxQuarantined: `(
    select count(*)::int from (select from inbox where quarantined_at is not null limit ${COUNT_CAP}) quarantined)`,
  queue: `(
    select ${rowsOf(queue, { rows: "n_live_tup", deadRows: "n_dead_tup" }).json}
    from pg_stat_user_tables where relid = 'deliveries'::regclass)`,
  horizon: `(
    select jsonb_object_agg(name, ${
      rowsOf(horizon.value, {
        transactions: "coalesce(transactions, 0)",
        seconds: "coalesce(extract(epoch from statement_timestamp() - since), 0)",
      }).json
    }) from holder)`,
})

/** The number of endpoints per queue for which a backlog is counted. */
export const LAGS_COUNTED = 20

/**
 * Measures the queues over all workers. Each reading is one statement, and its cost doesn't grow with the backlog.
 *
 * It uses `statement_timestamp()`, because an index doesn't support `clock_timestamp()`; rows that aren't due are never read. A role without
 * `pg_monitor` only sees the transactions of that role.
 */
export class DeliveryGauges extends DatabaseService<DeliveryGauges>()("postgres/deliveries/DeliveryGauges", (sql) => {
  /** At least 0, because an organization's timestamps may be ahead of the clock. */
  const secondsSince = (time: string) =>
    sql.literal(`coalesce(greatest(0, extract(epoch from statement_timestamp() - ${time})), 0)`)
  /** The waiting rows of a table, by organization. Starts at the first waiting row, to scan the dead rows before it only once. */
  const waitingIn = (table: string, time: string, isWaiting: string, limit: number) => {
    const [name, at, waits] = [sql.literal(table), sql.literal(time), sql.literal(isWaiting)]
    return sql`
        ${name}_first as materialized (
          select organization.id, first.at from organizations organization
          cross join lateral (
            select ${at} as at from ${name} where organization_id = organization.id and ${waits} order by ${at} limit 1
          ) first
        ), ${name}_due as (
          select count(*) as count,
            coalesce(extract(epoch from statement_timestamp() - (select min(at) from ${name}_first)), 0) as oldest_seconds
          from (
            select from ${name}_first earliest
            cross join lateral (
              select from ${name} where organization_id = earliest.id and ${waits} and ${at} >= earliest.at offset 0
            ) each
            limit ${limit}::int
          ) waiting
        )`
  }
  /** The waiting deliveries of a row `source`: an endpoint's log, its queued rows, or its replays. */
  const waitingOf = (limit: number) => sql`
      select from events_after(source.organization_id, source.event_types, source.begun_at, source.begun_id, 'infinity', ${limit}::int)
      where source.replay is null
      union all
      (select from deliveries
        where endpoint_id = source.id and replay = source.replay and owner is null
          -- Starts at the first due row, to scan the dead rows before it only once.
          and due_at >= source.due_at and due_at <= statement_timestamp()
        limit ${limit}::int)`
  const readUpTo = (limit: number, baseline?: typeof Baseline.Type) =>
    sql`
        with last_snapshot as materialized (
          select age(${baseline?.snapshot ?? null}::xid8::xid) as age
        ), busy as materialized (
          -- The other endpoints had reached the end of their logs at the last reading, and have no new events.
          select id from organizations where ${baseline === undefined}::boolean
          union select unnest(${baseline?.busy ?? []}::text[])
          union select organization_id from organization_clock where age(xmin) <= (select age from last_snapshot)
          union select organization_id from webhook_endpoints where age(xmin) <= (select age from last_snapshot)
        ), position as materialized (
          select endpoint.id, endpoint.organization_id, event_types, begun_at, begun_id, open, enabled and last > begun_at as behind,
            case when allowance is null then 'live' else 'probed' end as queue
          from webhook_endpoints endpoint
          join endpoint_readers reader on reader.endpoint_id = endpoint.id
          cross join lateral reader_position(endpoint.id) position
          join organization_clock clock on clock.organization_id = endpoint.organization_id
          where endpoint.organization_id in (select id from busy)
        ), reader as materialized (
          -- Only a few of the endpoints have events to read.
          select position.*, first.emitted_at as due_at
          from position cross join lateral events_after(organization_id, event_types, begun_at, begun_id, 'infinity', 1) first
          where behind
        ), lane as materialized (
          select endpoint.id, replay, first.due_at,
            case when replay then 'replay' when allowance is null then 'live' else 'probed' end as queue
          from (
            -- An index skip scan over the endpoints that have rows.
            with recursive each as (
              (select endpoint_id, replay from deliveries where owner is null order by endpoint_id, replay limit 1)
              union all
              select next.* from each cross join lateral (
                select endpoint_id, replay from deliveries
                where owner is null and (endpoint_id, replay) > (each.endpoint_id, each.replay)
                order by endpoint_id, replay limit 1
              ) next
            ) select * from each
          ) kind
          join webhook_endpoints endpoint on endpoint.id = kind.endpoint_id and enabled
          join endpoint_readers reader on reader.endpoint_id = endpoint.id
          cross join lateral (
            select due_at from deliveries
            where endpoint_id = kind.endpoint_id and replay = kind.replay and owner is null and due_at <= statement_timestamp()
            order by due_at limit 1
          ) first
        ), source as materialized (
          select queue, due_at, id, null::boolean as replay, organization_id, event_types, begun_at, begun_id from reader
          union all
          select queue, due_at, id, replay, null, null, null, null from lane
        ), counted as (
          select queue, each.count from unnest(array['live', 'probed', 'replay']) as queue
          cross join lateral (
            select count(*) as count from (
              select from source cross join lateral (${waitingOf(limit)}) each where source.queue = queue.queue limit ${limit}::int
            ) due
          ) each
        ), lag as (
          select queue, max(each.count) as events, min(due_at) as due_at
          from (select *, row_number() over (partition by queue order by due_at) as position from source where replay is not false) source
          cross join lateral (select count(*) as count from (${waitingOf(limit)}) waiting) each
          where position <= ${LAGS_COUNTED}::int
          group by queue
        ), oldest as (
          select queue, min(due_at) as due_at from source group by queue
        ), deliveries_due as (
          select queue, counted.count, ${secondsSince("oldest.due_at")} as oldest_seconds, coalesce(lag.events, 0) as max_lag_events,
            ${secondsSince("lag.due_at")} as max_lag_seconds
          from counted left join oldest using (queue) left join lag using (queue)
        ), sending as materialized (
          select organization_id, campaigns.id, first.due_at,
            -- The earliest time at which its first message could be sent: due, in the window, within its rate, and within its sender's daily ramp.
            greatest(first.due_at, window_start, campaigns.updated_at, pace.next_at,
              case when organization_id in (select organization_id from sender_ramps)
                then date_trunc('day', statement_timestamp(), 'UTC') end) as late_since
          from campaigns
          left join send_rates pace on per_minute is not null and pace.scope = 'campaign ' || campaigns.id
          cross join lateral (
            select due_at from messages
            where organization_id = campaigns.organization_id and campaign_id = campaigns.id and due_at <= statement_timestamp()
              and (lease_until is null or lease_until < statement_timestamp())
            order by due_at limit 1
          ) first
          where campaigns.status = 'sending' and window_start <= statement_timestamp() and window_end > statement_timestamp()
            -- Evaluated for few campaigns, because each evaluation is a separate query.
            and not (organization_id in (select organization_id from sender_ramps) and ramp_reached(organization_id, program_id))
        ), messages_due as (
          select count(*) as count, ${secondsSince("(select min(late_since) from sending)")} as oldest_seconds from (
            select from sending
            cross join lateral (
              select from messages
              where organization_id = sending.organization_id and campaign_id = sending.id
                and messages.due_at >= sending.due_at and messages.due_at <= statement_timestamp()
                and (lease_until is null or lease_until < statement_timestamp())
              offset 0
            ) each
            limit ${limit}::int
          ) due
        ), ${waitingIn("inbox", "received_at", "applied_at is null and quarantined_at is null", limit)}
        , ${waitingIn("hits", "received_at", "judged_at is null", limit)}
        , unsubscriptions_due as (
          select count(*) as count, coalesce(extract(epoch from statement_timestamp() - min(asked_at)), 0) as oldest_seconds
          from (select asked_at from unsubscriptions where suppressed_at is null order by asked_at limit ${limit}::int) waiting
        )
        select ${dueRows.columns}`.pipe(dueRows.decode, only)
  let baseline: typeof Baseline.Type | undefined
  return {
    /** Slower while dead rows can't be vacuumed. */
    readDue: Effect.suspend(() => readUpTo(COUNT_CAP, baseline)).pipe(
      Effect.map(({ baseline: next, ...reading }) => {
        baseline = next
        return reading
      }),
    ),

    /** Reads how long each queue has waited, without the counts: each count is 0 or 1. */
    readOldest: Effect.map(readUpTo(1), Struct.omit(["baseline"])),

    readState: sql`
        with holder (name, transactions, since) as (
          select 'session', max(age(backend_xmin)), min(xact_start) from pg_stat_activity
          where backend_xmin is not null and pid <> pg_backend_pid() and (datname = current_database() or datname is null)
          union all
          select 'replication_slot', max(age(xmin)), null from pg_replication_slots
          union all
          select 'prepared_transaction', max(age(transaction)), min(prepared) from pg_prepared_xacts where database = current_database()
        ), complained as (${complainedCampaigns(sql)})
        select ${stateRows.columns}`.pipe(stateRows.decode, only),
  }
}) {}
