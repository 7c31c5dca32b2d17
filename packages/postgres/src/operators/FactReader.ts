import { COUNT_CAP } from "@outreach/domain/countCaps"
import { OrganizationId } from "@outreach/domain/Identifier"
import { ALERTING_FACTS, activeAlerts } from "@outreach/domain/operators/alerts"
import { FACTS, type FactName, type FactValues, LAGS_COUNTED, READINGS } from "@outreach/domain/operators/facts"
import { Effect, Record, Schema } from "effect"
import { DatabaseService } from "../adapter.ts"
import { complainedCampaigns } from "../campaigns/complainedCampaigns.ts"
import { decodeValue, rowsOf } from "../rowsOf.ts"

/** State for the next reading: only endpoints of busy organizations can have a lag or deliveries in flight. */
const Baseline = Schema.Struct({ snapshot: Schema.String, busy: Schema.Array(OrganizationId) })

const Values = Schema.Struct({
  ...Record.map(FACTS, ({ unit, ...fact }) => {
    const value = unit === "count" ? Schema.Int : Schema.Number
    const values = "by" in fact ? Object.values(fact.by).flat() : []
    return Schema.optionalKey(values.length > 0 ? Schema.Record(Schema.Literals(values), value) : value)
  }),
  baseline: Schema.optionalKey(Baseline),
})
const decodeFacts = decodeValue({ facts: Values })
const decodeAges = decodeValue({ ages: Schema.Record(Schema.String, Schema.NullOr(Schema.Number)) })

/** The condition that a row belongs to the organization of the reading; true for all of them. */
const isIn = (column = "organization_id") => `coalesce(${column} = (select organization_id from scope), true)`
/** At least 0, because an organization's timestamps may be ahead of the clock. */
const secondsSince = (time: string) => `coalesce(greatest(0, extract(epoch from statement_timestamp() - ${time})), 0)`
const byQueue = (column: string) => `(select jsonb_object_agg(queue, ${column}) from deliveries_due)`
const byHolder = (value: string) => `(select jsonb_object_agg(name, coalesce(${value}, 0)) from holder)`
const capped = (column: string, rows: string) => `select ${column} from ${rows} limit ${COUNT_CAP}`
const upToCap = (rows: string) => `(select count(*) from (${capped("", rows)}) capped)`
const numberWith = (condition: string) => `count(*) filter (where ${condition})`
const statistic = (column: string) => `(select ${column} from pg_stat_user_tables where relid = 'deliveries'::regclass)`

/** The condition of `clock_watch`: a worker that doubts the database's clock reports it every 10 s. */
export const IS_CLOCK_DOUBTED =
  "doubted_at between clock_timestamp() - interval '1 minute' and clock_timestamp() + interval '1 minute'"

/** The condition of `failure_groups`: calls to an enabled endpoint keep failing, and no operator muted the group. */
export const IS_LASTING =
  "muted_at is null and closed_at is null and endpoint_id in (select id from webhook_endpoints where enabled)"

/** Each fact as an expression on the parts of the statement below. PostgreSQL doesn't run the parts that a reading doesn't use. */
const EXPRESSIONS: { readonly [Name in FactName | "baseline"]: string } = {
  deliveriesDue: byQueue("count"),
  deliveriesOldestSeconds: byQueue("oldest_seconds"),
  maxLagEvents: byQueue("max_lag_events"),
  maxLagSeconds: byQueue("max_lag_seconds"),
  deliveriesInFlight: `(select coalesce(sum(cardinality(open)), 0) from position)
    + (select count(*) from deliveries where owner is not null and ${isIn()})`,
  messagesDue: "(select count from messages_due)",
  messagesOldestSeconds: "(select oldest_seconds from messages_due)",
  inboxWaiting: "(select count from inbox_due)",
  inboxOldestSeconds: "(select oldest_seconds from inbox_due)",
  hitsWaiting: "(select count from hits_due)",
  hitsOldestSeconds: "(select oldest_seconds from hits_due)",
  unsubscriptionsWaiting: "(select count from unsubscriptions_due)",
  unsubscriptionsOldestSeconds: "(select oldest_seconds from unsubscriptions_due)",
  baseline: rowsOf(Baseline, {
    snapshot: "pg_snapshot_xmin(pg_current_snapshot())::text",
    busy: `(
      select coalesce(jsonb_agg(distinct organization_id), '[]')
      from (select organization_id from reader union all select organization_id from position where open <> '{}') each)`,
  }).json,

  workers: "(select count(*) from delivery_workers where alive_until > statement_timestamp() and not stopping)",
  workersPaused: "(restore_fault() is not null)::int",
  breakersOpen: `(
    select count(*) from endpoint_readers join webhook_endpoints endpoint on endpoint.id = endpoint_id
    where allowance is not null and enabled and ${isIn("endpoint.organization_id")})`,
  endpointsFailing: `(
    select jsonb_build_object('some', ${numberWith("contacts <> '{}'")}, 'none', ${numberWith("contacts = '{}'")})
    from endpoint_readers join webhook_endpoints endpoint on endpoint.id = endpoint_id
    join organizations organization on organization.id = endpoint.organization_id
    where notices > 0 and (enabled or disabled_reason = 'failing') and ${isIn("organization.id")})`,
  failuresLasting: `(select count(*) from failure_groups where ${IS_LASTING} and ${isIn()})`,
  deadLetters: `(
    select jsonb_build_object('rejected', coalesce(sum(rejected), 0), 'exhausted', coalesce(sum(exhausted), 0),
      'poison', coalesce(sum(poison), 0))
    from failure_groups where open > 0 and muted_at is null and ${isIn()})`,
  messagesQuarantined: upToCap(`messages where quarantined_at is not null and ${isIn()}`),
  campaignsComplained: `(
    select jsonb_build_object('raised', ${numberWith("not is_high")}, 'high', ${numberWith("is_high")})
    from complained where ${isIn()})`,
  inboxQuarantined: upToCap(`inbox where quarantined_at is not null and ${isIn()}`),
  deliveriesRows: statistic("n_live_tup"),
  deliveriesDeadRows: statistic("n_dead_tup"),
  horizonTransactions: byHolder("transactions"),
  horizonSeconds: byHolder("extract(epoch from statement_timestamp() - since)"),
  clockAheadSeconds: `(
    select coalesce(greatest(0, extract(epoch from max(last) - statement_timestamp())), 0)
    from organization_clock where ${isIn()})`,
  clockDoubted: `(select count(doubt) from clock_watch where ${IS_CLOCK_DOUBTED})`,
}

const ageOf = (time: string, rows: string) =>
  `(select extract(epoch from statement_timestamp() - ${time}) from ${rows})`
/** For how many seconds the rows of a count have been there, of those with a time. */
const AGES = {
  workers: ageOf("max(alive_until)", "delivery_workers"),
  // The start of a restore; otherwise, when the workers last used this database.
  workersPaused: ageOf("coalesce((select begun_at from restores where finished_at is null), seen_at)", "clock_watch"),
  endpointsFailing: ageOf("min(failing_since)", `endpoint_readers where notices > 0 and ${isIn()}`),
  deadLetters: ageOf("min(opened_at)", `failure_groups where open > 0 and muted_at is null and ${isIn()}`),
  messagesQuarantined: ageOf(
    "min(quarantined_at)",
    `(${capped("quarantined_at", `messages where quarantined_at is not null and ${isIn()}`)})`,
  ),
  inboxQuarantined: ageOf(
    "min(quarantined_at)",
    `(${capped("quarantined_at", `inbox where quarantined_at is not null and ${isIn()}`)})`,
  ),
  clockDoubted: ageOf("doubted_from", "clock_watch"),
} satisfies { readonly [Name in FactName]?: string }

const DUE: ReadonlySet<keyof typeof EXPRESSIONS> = new Set([...READINGS.due, "baseline"])

/** The waiting rows of a table, by organization. Starts at the first waiting row, to scan the dead rows before it only once. */
const waitingIn = (table: string, at: string, isWaiting: string, limit: number) => `
      ${table}_first as materialized (
        select organization.id, first.at from organizations organization
        cross join lateral (
          select ${at} as at from ${table} where organization_id = organization.id and ${isWaiting} order by ${at} limit 1
        ) first
        where ${isIn("organization.id")}
      ), ${table}_due as (
        select count(*) as count, ${secondsSince(`(select min(at) from ${table}_first)`)} as oldest_seconds
        from (
          select from ${table}_first earliest
          cross join lateral (
            select from ${table} where organization_id = earliest.id and ${isWaiting} and ${at} >= earliest.at offset 0
          ) each
          limit ${limit}
        ) waiting
      )`

/** The waiting deliveries of a row `source`: an endpoint's log, its queued rows, or its replays. */
const waitingOf = (limit: number) => `
    select from events_after(source.organization_id, source.event_types, source.begun_at, source.begun_id, 'infinity', ${limit})
    where source.replay is null
    union all
    (select from deliveries
      where endpoint_id = source.id and replay = source.replay and owner is null
        -- Starts at the first due row, to scan the dead rows before it only once.
        and due_at >= source.due_at and due_at <= statement_timestamp()
      limit ${limit})`

/** The parts for facts about due work. Other readings don't contain them, so that no lock on their tables delays them. */
const dueParts = (limit: number) => `
      busy as materialized (
        -- The other endpoints had reached the end of their logs at the last reading, and have no new events.
        select id from organizations where (select busy from scope) is null and ${isIn("id")}
        union select unnest(busy) from scope
        union select organization_id from organization_clock where age(xmin) <= (select snapshot_age from scope)
        union select organization_id from webhook_endpoints where age(xmin) <= (select snapshot_age from scope)
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
        from first_due() first
        join webhook_endpoints endpoint on endpoint.id = first.endpoint_id and enabled
        join endpoint_readers reader on reader.endpoint_id = endpoint.id
        where first.due_at <= statement_timestamp() and ${isIn("endpoint.organization_id")}
      ), source as materialized (
        select queue, due_at, id, null::boolean as replay, organization_id, event_types, begun_at, begun_id from reader
        union all
        select queue, due_at, id, replay, null, null, null, null from lane
      ), counted as (
        select queue, each.count from unnest(array['live', 'probed', 'replay']) as queue
        cross join lateral (
          select count(*) as count from (
            select from source cross join lateral (${waitingOf(limit)}) each where source.queue = queue.queue limit ${limit}
          ) due
        ) each
      ), lag as (
        select queue, max(each.count) as events, min(due_at) as due_at
        from (select *, row_number() over (partition by queue order by due_at) as position from source where replay is not false) source
        cross join lateral (select count(*) as count from (${waitingOf(limit)}) waiting) each
        where position <= ${LAGS_COUNTED}
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
            case when organization_id in (select organization_id from senders where ramp is not null)
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
          and ${isIn("campaigns.organization_id")}
          -- Evaluated for few campaigns, because each evaluation is a separate query.
          and not (organization_id in (select organization_id from senders where ramp is not null)
            and exists (select from sender_of(organization_id, program_id) where slots = 0))
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
          limit ${limit}
        ) due
      ), ${waitingIn("inbox", "received_at", "applied_at is null and quarantined_at is null", limit)}
      , ${waitingIn("hits", "received_at", "judged_at is null", limit)}
      , unsubscriptions_due as (
        select count(*) as count, ${secondsSince("min(asked_at)")} as oldest_seconds from (
          select asked_at from unsubscriptions where suppressed_at is null and ${isIn()}
          order by asked_at limit ${limit}
        ) waiting
      ),`

interface Options {
  /** How far due work is counted. */
  readonly limit: number
  /** Default: all organizations. */
  readonly organizationId?: OrganizationId | null
  /** Default: reads all endpoints. */
  readonly baseline?: typeof Baseline.Type | undefined
}

/**
 * Measures the facts over all workers, with one statement per reading; its cost doesn't grow with the backlog.
 *
 * It uses `statement_timestamp()`, because an index doesn't support `clock_timestamp()`; rows that aren't due are never read. A role without
 * `pg_monitor` only sees the transactions of that role.
 */
export class FactReader extends DatabaseService<FactReader>()("postgres/operators/FactReader", (sql) => {
  const read = (names: ReadonlyArray<keyof typeof EXPRESSIONS>, { limit, organizationId, baseline }: Options) =>
    sql`
        with scope as materialized (
          select ${organizationId ?? null}::text as organization_id, ${baseline?.busy ?? null}::text[] as busy,
            age(${baseline?.snapshot ?? null}::xid8::xid) as snapshot_age
        ), ${sql.literal(names.some((name) => DUE.has(name)) ? dueParts(limit) : "")}
        holder (name, transactions, since) as (
          select 'session', max(age(backend_xmin)), min(xact_start) from pg_stat_activity
          where backend_xmin is not null and pid <> pg_backend_pid() and (datname = current_database() or datname is null)
          union all
          select 'replication_slot', max(age(xmin)), null from pg_replication_slots
          union all
          select 'prepared_transaction', max(age(transaction)), min(prepared) from pg_prepared_xacts where database = current_database()
        ), complained as (${complainedCampaigns(sql)})
        select jsonb_build_object(${sql.literal(names.map((name) => `'${name}', ${EXPRESSIONS[name]}`).join(", "))}) as facts`.pipe(
      decodeFacts,
    )
  let baseline: typeof Baseline.Type | undefined
  return {
    /** Reads facts of the deployment or of one organization, without counting due work: each of these counts is 0 or 1. */
    read: (names: ReadonlyArray<FactName>, organizationId: OrganizationId | null) =>
      read(names, { limit: 1, organizationId }),

    /** Reads the active alerts on facts of the deployment or of one organization. */
    readAlerts: Effect.fnUntraced(function* (organizationId: OrganizationId | null) {
      const facts = yield* read(ALERTING_FACTS, { limit: 1, organizationId })
      const ages = Object.entries(AGES).map(([name, age]) => `'${name}', ${age}`)
      return activeAlerts(
        facts as Partial<FactValues>,
        yield* sql`
          with scope as materialized (select ${organizationId}::text as organization_id)
          select jsonb_build_object(${sql.literal(ages.join(", "))}) as ages`.pipe(decodeAges),
      )
    }),

    /** Reads the due work. Slower while dead rows can't be vacuumed. */
    readDue: Effect.suspend(() => read([...READINGS.due, "baseline"], { limit: COUNT_CAP, baseline })).pipe(
      Effect.map(({ baseline: next, ...facts }) => {
        baseline = next
        return facts as FactValues<(typeof READINGS.due)[number]>
      }),
    ),
  }
}) {}

/** Reads facts of the deployment, or of one organization. */
export const readFacts = <Name extends FactName>(
  names: ReadonlyArray<Name>,
  organizationId: OrganizationId | null = null,
): Effect.Effect<FactValues<Name>, never, FactReader> =>
  FactReader.use(({ read }) => read(names, organizationId)) as never
