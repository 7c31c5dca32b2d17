import { DescribedError } from "@outreach/domain/DescribedError"
import { Attempt, DEAD_LETTER_REASONS, type DeliveryState, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { MAX_ACTIVE_SECRETS } from "@outreach/domain/deliveries/SigningSecrets"
import { DeliveryId, lowestIdentifierAt, madeAt, type OrganizationId, SecretId } from "@outreach/domain/Identifier"
import { reader } from "@outreach/postgres/adapter"
import { attemptsMade } from "@outreach/postgres/deliveries/attemptsMade"
import { allOf, decodeColumn, decodeRow, equal, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema, Struct } from "effect"
import type { Statement } from "effect/sql"
import {
  batchesBelow,
  type DeliveryFilter,
  highestId,
  isOfAttempts,
  MAX_ID,
  MAX_SCAN,
  needsScan,
  rangeBelow,
  statesOf,
} from "./DeliveryFilter.ts"

export class DeliveryNotFound extends DescribedError("DeliveryNotFound", "No delivery {deliveryId}.") {}

/** The step that counts as too small. */
const MIN_STEP = 750

/** Number of `delivered` rows of all endpoints that one step filters. */
const SCAN_ROWS = 5000

/** The number of those that the first step reads; each row may contain hundreds. */
const HISTORY_ROWS = 200

/** A row's creation time as a delivery. A delivery from the log is as old as its event, while the event is stored. */
export const createdAtOf = (row: string): string => `coalesce(
  case when ${row}.id = delivery_id(event_id, endpoint_id) then emitted_at else ${row}.created_at end,
  ${row}.created_at, finished_at)`

/** The fields of a row's last attempt, from the attempt as JSON. */
export const lastAttemptOf = (last: string) => ({
  lastStatus: `(${last}->>'status')::int`,
  lastOutcome: `${last}->>'outcome'`,
  lastLatencyMs: `(${last}->>'latencyMs')::int`,
})

const DELIVERY = {
  organizationId: "delivery.organization_id",
  id: "delivery.id",
  eventType: "event.type",
  attempts: `coalesce(attempts, ${attemptsMade("attempts_json")})`,
  ...lastAttemptOf("last"),
  createdAt: createdAtOf("delivery"),
}
const { columns, decode } = rowsOf(DeliverySummary, DELIVERY)
const decodeSigners = decodeColumn({ ids: Schema.Array(SecretId) })
const FoundDelivery = Schema.Struct({
  ...DeliverySummary.fields,
  ...Struct.pick(Endpoint.fields, ["url", "retryDelays"]),
  /** The event's envelope: personal data; null if the event is no longer stored. */
  body: Schema.NullOr(Schema.String),
  made: Schema.Array(Attempt),
})
const found = rowsOf(FoundDelivery, { ...DELIVERY, url: "shown_url(url)" })
/** The number of deliveries read by a step, the lowest id, and the lowest id with known successes. */
const decodeScan = decodeRow({
  looked: Schema.Int,
  last: Schema.NullOr(DeliveryId),
  floor: Schema.NullOr(DeliveryId),
})
const endpoints = rowsOf(Endpoint.mapFields(Struct.pick(["organizationId", "id", "url"])), { url: "shown_url(url)" })

export const DeliveryReader = reader("DeliveryReader", (sql) => {
  const waiting = sql.literal(`(
    select organization_id, id, endpoint_id, event_id, case when owner is null then 'pending' else 'sending' end as state,
      attempts, due_at, created_at, null::timestamptz as finished_at, null as replayed_as, null::jsonb as attempts_json
    from deliveries) delivery`)
  /** Single look-ups through the primary key, even if the planner estimates few rows. */
  const eventOf = (owner: Statement.Fragment, delivery: Statement.Fragment) => sql`(
    select type, campaign_id, emitted_at, body from events
    where organization_id = ${owner}.organization_id and id = ${delivery}.event_id
    offset 0)`
  const lastAttempt = sql.literal(`(
    select coalesce(attempts_json->-1, (
      select jsonb_build_object('status', status, 'outcome', outcome, 'latencyMs', latency_ms) from delivery_attempts made
      where made.organization_id = delivery.organization_id and delivery_id = delivery.id
      order by number desc, started_at desc limit 1)) as last
  ) attempt`)
  /** The deliveries of `delivered` rows, each of which may contain many. Attempts are only counted for listed ones. */
  const arrivedOf = (rows: Statement.Fragment) => sql`(
    select organization_id, each.id, endpoint_id, each.event_id, case when cancelled then 'cancelled' else 'delivered' end as state,
      null::integer as attempts, null::timestamptz as due_at, created_at, finished_at, null as replayed_as, each.attempts as attempts_json
    from ${rows} history cross join lateral (
      select history.id, history.event_id, history.attempts where deliveries is null
      union all
      select delivery->>'id' collate "C", delivery->>'eventId' collate "C", jsonb_build_array(delivery->'attempt')
      from json_array_elements(deliveries) delivery
    ) each) delivery`
  const dead = sql.literal(`(
    select organization_id, id, endpoint_id, event_id, reason as state, null::integer as attempts, null::timestamptz as due_at,
      created_at, finished_at, nullif(replayed_as, '') as replayed_as, attempts as attempts_json
    from dead_letters) delivery`)
  /**
   * Reads the newest deliveries below an id. Returns the matches and the next position. `historyRows`,
   * `batchSize` and `limit` limit the `delivered` rows, the deliveries and the matches.
   */
  const readBelow = Effect.fnUntraced(function* (
    filter: DeliveryFilter,
    before: string,
    { historyRows, batchSize, limit }: Readonly<Record<"historyRows" | "batchSize" | "limit", number>>,
  ) {
    const { lowest, top, lowestEvent, highestEvent } = rangeBelow(before, filter)
    const { organizationId, endpointId, eventId, campaignId, from, to } = filter
    // Omits unneeded parts, so that a plan for all endpoints never reads 100,000 dead letters for the few of one.
    const isOwned = equal({ endpoint_id: endpointId, organization_id: organizationId })
    const wanted = statesOf(filter)
    const mayBe = (...states: ReadonlyArray<DeliveryState>) =>
      states.some((state) => wanted.includes(state)) ? sql`true` : sql`false`
    const newest = (deliveries: Statement.Fragment, states: ReadonlyArray<DeliveryState>) => sql`(
      select * from ${deliveries}
      where ${mayBe(...states)} and id < ${top} and id >= ${lowest} and ${isOwned}
        and state = any (${wanted}::text[]) and ${equal({ event_id: eventId })}
        ${filter.state === "dead" ? sql`and replayed_as is null` : sql``}
      order by id desc limit ${batchSize}::int)`
    const fromLog = (state: DeliveryState, found: Statement.Fragment) => sql`(
      select reader.organization_id, found.id, reader.endpoint_id, found.event_id, ${state}::text as state, 0 as attempts,
        found.emitted_at as due_at, found.emitted_at as created_at, null::timestamptz as finished_at, null as replayed_as,
        null::jsonb as attempts_json
      from endpoint_readers reader
      join webhook_endpoints endpoint on endpoint.id = reader.endpoint_id
      cross join lateral reader_position(reader.endpoint_id) position
      join organization_clock clock on clock.organization_id = reader.organization_id
      cross join lateral ${found} found
      where ${isOfAttempts(filter) ? sql`false` : mayBe(state)} and ${allOf(
        equal({ "reader.endpoint_id": endpointId, "reader.organization_id": organizationId }),
        campaignId && sql`reader.organization_id = (select organization_id from campaigns where id = ${campaignId})`,
      )})`
    // An event has few deliveries, which may be replayed at any time.
    const scanRows = eventId === undefined ? SCAN_ROWS : null
    const beyondEvent = eventId && lowestIdentifierAt("delivery", madeAt(eventId) + 1)
    const isScanned = sql`id >= ${lowest} and ${mayBe("delivered", "cancelled")}`
    const isHistory = allOf(
      isScanned,
      isOwned,
      filter.state && sql`coalesce(cancelled, false) = ${filter.state === "cancelled"}::boolean`,
      beyondEvent && sql`(event_id = ${eventId} or (first_id < ${beyondEvent} and id < ${batchesBelow(beyondEvent)}))`,
    )
    // Each by its index on the id. A row with many deliveries may reach below the limit; its contents count
    // down to where the last row ends that was looked at.
    const rows = yield* sql`
      with history as materialized (
        (select * from (
          select * from delivered where id < ${top} and ${isScanned} order by id desc limit ${scanRows}::int
        ) scanned where ${isHistory} order by id desc limit ${historyRows}::int)
        union all
        (select * from delivered where id >= ${top} and id < ${batchesBelow(top)} and first_id < ${top} and ${isHistory})
      ), reached as materialized (
        select case when count(*) >= ${historyRows}::int then min(id) else (
          select id from delivered where id < ${top} and ${isScanned} and ${scanRows}::int is not null
          order by id desc offset ${scanRows}::int - 1 limit 1
        ) end as floor from history where id < ${top}
      ), looked as materialized (
        select * from (
          ${newest(waiting, ["pending", "sending"])}
          union all ${newest(dead, DEAD_LETTER_REASONS)}
          union all ${fromLog(
            "sending",
            sql`(
              select delivery_id(event_id, reader.endpoint_id) collate "C" as id, event_id, emitted_at
              from (select id collate "C" as event_id from unnest(open) as id) open
              cross join lateral ${eventOf(sql`reader`, sql`open`)} event
              where event_id >= ${lowestEvent} and event_id <= ${highestEvent})`,
          )}
          union all ${fromLog(
            "pending",
            sql`(
              select id collate "C" as id, event_id collate "C" as event_id, emitted_at from deliveries_in_log(
                reader.endpoint_id, event_types, begun_at, begun_id, ${lowestEvent}, ${highestEvent}, ${top}, ${batchSize}::int)
              where last > begun_at)`,
          )}
          union all
          select * from ${arrivedOf(sql`history`)} where ${equal({ event_id: eventId })}
        ) either
        where id < ${top} and id >= ${lowest} and id >= coalesce((select floor from reached), '')
        order by id desc limit ${batchSize}::int
      ), found as (
        select ${columns} from looked delivery
        left join lateral ${eventOf(sql`delivery`, sql`delivery`)} event on true
        cross join lateral ${lastAttempt}
        where ${equal({ "event.type": filter.type, "event.campaign_id": campaignId })}
      )
      select listed.*, scan.*, floor from reached
      cross join (select min(id) as last, count(*)::int as looked from looked) scan
      left join (
        select * from found
        where ${allOf(
          from && sql`"createdAt" >= ${from}::timestamptz`,
          to && sql`"createdAt" < ${to}::timestamptz`,
          equal({ '"lastStatus"': filter.status, '"lastOutcome"': filter.outcome }),
          filter.slowerThan === undefined
            ? undefined
            : sql`"lastLatencyMs" > ${filter.slowerThan * 1000}::double precision`,
        )}
        order by id desc limit ${limit}::int
      ) listed on true
      order by id desc`
    const { looked, last, floor } = yield* decodeScan(Effect.succeed(rows))
    const deliveries = yield* decode(Effect.succeed(rows.filter(({ id }) => id !== null)))
    return { deliveries, looked, next: looked < batchSize ? floor : last }
  })

  const find = Effect.fnUntraced(function* (deliveryId: DeliveryId) {
    const id = deliveryId as string
    // One statement, because a delivery moves from the log to a row and to its history.
    const rows = yield* sql`
      with kept as materialized (
        select delivery.*, coalesce((
          select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at)
          from delivery_attempts made
          where made.organization_id = delivery.organization_id and delivery_id = ${id}), '[]') as made
        from ${waiting} where id = ${id}
        union all
        select delivery.*, attempts_json from ${arrivedOf(sql`(
          select * from delivered where id >= ${id} and id < ${batchesBelow(id)} and coalesce(first_id, id) <= ${id})`)}
        where id = ${id}
        union all
        select delivery.*, attempts_json from ${dead} where id = ${id}
      ), logged as (
        select reader.organization_id, ${id}::text as id, reader.endpoint_id, event.id as event_id,
          case when event.id = any (open) then 'sending' else 'pending' end as state, 0 as attempts,
          emitted_at as due_at, emitted_at as created_at, null::timestamptz as finished_at, null as replayed_as,
          null::jsonb as attempts_json, '[]'::jsonb as made
        from organizations organization
        cross join lateral (
          select * from events
          where organization_id = organization.id and id >= ${`evt_${id.slice(4, 16)}`} and id < ${`evt_${id.slice(4, 16)}${MAX_ID}`}
          offset 0
        ) event
        join endpoint_readers reader on reader.organization_id = organization.id
        join webhook_endpoints endpoint on endpoint.id = reader.endpoint_id
        cross join lateral reader_position(reader.endpoint_id) position
        where not exists (select from kept) and delivery_id(event.id, reader.endpoint_id) = ${id}
          and (event.id = any (open)
            or emitted_at >= begun_at and (emitted_at, event.id) > (begun_at, begun_id) and (event_types is null or type = any (event_types)))
      )
      select ${found.columns} from (select * from kept union all select * from logged) delivery
      join webhook_endpoints endpoint on endpoint.id = endpoint_id
      left join lateral ${eventOf(sql`delivery`, sql`delivery`)} event on true
      cross join lateral ${lastAttempt}`.pipe(found.decode)
    const { made, retryDelays, url, body, ...delivery } = rows[0] ?? (yield* new DeliveryNotFound({ deliveryId }))
    return { delivery, attempts: made, retryDelays, request: { url, body } }
  })

  return {
    find,

    /** Finds a delivery with the secrets that signed each attempt: those that were active at its start. */
    findSigned: Effect.fnUntraced(function* (deliveryId: DeliveryId) {
      const { attempts, ...found } = yield* find(deliveryId)
      const signers = yield* sql`
        select array(
          select secret.id from webhook_endpoints endpoint join signing_secrets secret
            on secret.organization_id = endpoint.organization_id
              and (secret.endpoint_id = endpoint.id or secret.endpoint_id is null and made.at < shared_secrets_until)
          where endpoint.id = ${found.delivery.endpointId} and secret.created_at <= made.at
            and (secret.expires_at is null or made.at < secret.expires_at)
          order by secret.endpoint_id is null, secret.created_at desc, secret.id desc limit ${MAX_ACTIVE_SECRETS}::int
        ) as ids
        from unnest(${attempts.map(({ startedAt }) => startedAt)}::timestamptz[]) with ordinality as made (at, n)
        order by n`.pipe(decodeSigners)
      return { ...found, attempts: attempts.map((attempt, i) => ({ ...attempt, signedWith: signers[i] ?? [] })) }
    }),

    /**
     * Lists a page of deliveries, newest first, and the position after which the list continues; null at its end. It reads some thousand
     * deliveries at most, so a page with a rare type or campaign, or a quiet endpoint, may be short.
     */
    list: Effect.fnUntraced(function* (filter: DeliveryFilter, limit: number, after: DeliveryId | null = null) {
      const batchSize = needsScan(filter) ? MAX_SCAN : limit + 1
      const found: Array<DeliverySummary> = []
      let before: string | null = after ?? MAX_ID
      let historyRows = Math.min(batchSize, HISTORY_ROWS)
      for (let looked = 0; before !== null && found.length <= limit && looked < MAX_SCAN; ) {
        const rest = { historyRows, batchSize, limit: limit + 1 - found.length }
        const step: Effect.Success<ReturnType<typeof readBelow>> = yield* readBelow(filter, before, rest)
        found.push(...step.deliveries)
        before = step.next
        // Deliveries that may be newer than `to` don't count.
        if (before === null || before < highestId(filter)) looked += Math.max(MIN_STEP, step.looked)
        // A row contains one delivery or hundreds.
        if (step.looked < batchSize) historyRows = Math.min(batchSize, 2 * historyRows)
      }
      const last = found.length > limit ? found[limit - 1]!.id : (before as DeliveryId | null)
      return { rows: found.slice(0, limit), next: last && { id: last } }
    }),

    /** Lists the endpoints of deliveries, oldest first. */
    endpoints: (organizationId: OrganizationId | undefined) =>
      sql`
        select ${endpoints.columns} from webhook_endpoints
        where ${equal({ organization_id: organizationId })} order by id`.pipe(endpoints.decode),
  }
})

/** Describes an attempt's response without text: null was erased, an empty text never had one. */
export const describeEmptyResponse = ({ status, response }: Pick<Attempt, "status" | "response">): string => {
  if (status === null) return "none"
  return response === null ? "erased" : "no text"
}
