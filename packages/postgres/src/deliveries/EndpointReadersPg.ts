import { hash } from "node:crypto"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import type { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import {
  ALONE_FROM_LOSSES,
  EndpointReaders,
  type Outcome,
  type Progress,
  type Wanted,
} from "@outreach/domain/deliveries/EndpointReaders"
import { latencyHistogram } from "@outreach/domain/deliveries/latencyBuckets"
import { MAX_ACTIVE_SECRETS } from "@outreach/domain/deliveries/SigningSecretRepository"
import {
  type DeliveryId,
  type EndpointId,
  type EventId,
  madeAt,
  type OrganizationId,
} from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Clock, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { isTransient, orDieAs } from "../DatabaseFailure.ts"
import { activeSecrets, touchSecrets } from "./activeSecrets.ts"
import { endpointOwnership } from "./endpointOwnership.ts"

/** How often what came of calls is written again, twice a second. */
const MAX_WRITE_TRIES = 30

/** How long an organization's deliveries wait that cannot be signed with the key at hand. */
const UNREADABLE_WAIT_SECONDS = 60

interface ReadRow {
  readonly endpointId: EndpointId
  readonly organizationId: OrganizationId
  readonly url: EndpointUrl
  readonly eventId: Delivery["eventId"]
  readonly body: string
  readonly traceparent: string | null
  readonly readAt: number
  /** The ids of the active secrets, separated by commas. */
  readonly secretIds: string
}

interface LogRow extends ReadRow {
  readonly emittedAt: Timestamp
}

interface DueRow extends ReadRow {
  readonly id: DeliveryId
  readonly attempt: number
  readonly replay: boolean
  readonly losses: number
}

interface NextRow {
  readonly endpointId: EndpointId
  readonly inMs: number
}

/** Keeps the readers in PostgreSQL. */
export const EndpointReadersPg = Layer.effect(
  EndpointReaders,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const noteUse = touchSecrets(sql)

    const ownership = yield* endpointOwnership
    const secretsOf = yield* activeSecrets

    /** Adds the secrets of each row's organization. */
    const withSecrets = Effect.fnUntraced(function* <Row extends ReadRow>(rows: ReadonlyArray<Row>) {
      const secrets = yield* secretsOf(rows.map(({ secretIds }) => secretIds))
      yield* noteUse([...new Set(rows.map(({ organizationId }) => organizationId))])
      return rows.map((row) => [row, secrets.get(row.secretIds)] as const)
    })

    // Endpoints whose organization's secrets cannot be decrypted, and until when their logs are left alone.
    const unreadableUntil = new Map<EndpointId, number>()
    /** Gives events that were just read rows of their own, which are due when the secrets are tried again. */
    const postpone = Effect.fnUntraced(function* (worker: string, rows: ReadonlyArray<LogRow>) {
      const until = (yield* Clock.currentTimeMillis) + UNREADABLE_WAIT_SECONDS * 1000
      for (const { endpointId } of rows) unreadableUntil.set(endpointId, until)
      const locked = yield* sql<{ id: EndpointId }>`
        select endpoint_id as id from endpoint_readers
        where endpoint_id = any (${rows.map(({ endpointId }) => endpointId)}::text[]) and owner = ${worker}::uuid
        order by endpoint_id for no key update`
      const held = new Set(locked.map(({ id }) => id))
      const moved = rows.filter(({ endpointId }) => held.has(endpointId))
      const lasts = [...new Map(moved.map((row) => [row.endpointId, row])).values()]
      // The positions move past them in the same transaction, so that each has its row and none is read again.
      yield* sql`
        insert into deliveries (organization_id, id, endpoint_id, event_id, due_at)
        select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id,
          clock_timestamp() + make_interval(secs => ${UNREADABLE_WAIT_SECONDS}::double precision)
        from unnest(
          ${moved.map(({ organizationId }) => organizationId)}::text[], ${moved.map(({ endpointId }) => endpointId)}::text[],
          ${moved.map(({ eventId }) => eventId)}::text[]) as given (organization_id, endpoint_id, event_id)`
      yield* sql`
        select write_positions(
          ${lasts.map(({ endpointId }) => endpointId)}::text[], array_fill(null::text, array[${lasts.length}::int]),
          ${lasts.map(({ emittedAt }) => emittedAt)}::text[], ${lasts.map(({ eventId }) => eventId)}::text[])`
    }, sql.withTransaction)

    const wantedBy = (wanted: ReadonlyArray<Wanted>) =>
      [wanted.map(({ endpointId }) => endpointId), wanted.map(({ limit }) => limit)] as const

    return {
      ...ownership,

      read: Effect.fnUntraced(function* (worker, wanted) {
        const now = yield* Clock.currentTimeMillis
        const [endpoints, limits] = wantedBy(
          wanted.filter(({ endpointId }) => !(unreadableUntil.get(endpointId)! > now)),
        )
        if (endpoints.length === 0) return []
        const rows = yield* sql<LogRow>`
          select endpoint_id as "endpointId", organization_id as "organizationId", url, event_id as "eventId", body, traceparent,
            emitted_at as "emittedAt", read_at as "readAt", secret_ids as "secretIds"
          from read_logs(${worker}::uuid, ${endpoints}::text[], ${limits}::int[], ${MAX_ACTIVE_SECRETS}::int)`
        const deliveries: Array<Delivery> = []
        const unreadable: Array<LogRow> = []
        for (const [row, secrets] of yield* withSecrets(rows)) {
          const id = deliveryId(row.eventId, row.endpointId)
          if (secrets === undefined) unreadable.push(row)
          else deliveries.push({ ...row, id, isRow: false, attempt: 1, losses: 0, isReplay: false, secrets })
        }
        if (unreadable.length > 0) yield* postpone(worker, unreadable)
        return deliveries
      }, orDieAs("EndpointReaders.read")),

      takeDue: Effect.fnUntraced(function* (worker, wanted) {
        const [endpoints, limits] = wantedBy(wanted)
        const rows = yield* sql<DueRow>`
          select endpoint_id as "endpointId", organization_id as "organizationId", url, id, event_id as "eventId", body, traceparent,
            attempt, replay, losses, taken_at as "readAt", secret_ids as "secretIds"
          from take_due(
            ${worker}::uuid, ${endpoints}::text[], ${limits}::int[], ${ALONE_FROM_LOSSES}::int, ${MAX_ACTIVE_SECRETS}::int)`
        const deliveries: Array<Delivery> = []
        const unreadable: Array<DeliveryId> = []
        for (const [{ replay, ...row }, secrets] of yield* withSecrets(rows)) {
          if (secrets === undefined) unreadable.push(row.id)
          else deliveries.push({ ...row, isRow: true, isReplay: replay, secrets, emittedAt: null })
        }
        if (unreadable.length > 0) {
          yield* sql`
            update deliveries set owner = null,
              due_at = clock_timestamp() + make_interval(secs => ${UNREADABLE_WAIT_SECONDS}::double precision)
            where owner = ${worker}::uuid and id = any (${unreadable}::text[])`
        }
        return deliveries
      }, orDieAs("EndpointReaders.takeDue")),

      keepOnly: (worker, endpoints, known) =>
        sql`
          update deliveries set owner = null, owned_at = null
          where owner = ${worker}::uuid and endpoint_id = any (${endpoints}::text[]) and id <> all (${known}::text[])`.pipe(
          orDieAs("EndpointReaders.keepOnly"),
        ),

      write: (worker, progress) => {
        const { endpoints, open, places, placeIds, breakers, batches, troubles, arrived } = progressColumns(progress)
        return sql<{ id: EndpointId | DeliveryId }>`
          select id from write_progress(
            ${worker}::uuid, ${endpoints}::text[], ${open}::text[], ${places}::text[], ${placeIds}::text[],
            ${breakers.map(({ endpointId }) => endpointId)}::text[], ${breakers.map(({ failures }) => failures)}::int[],
            array_replace(${breakers.map(({ allowance }) => allowance ?? 0)}::int[], 0, null), ${breakers.map(({ probeInMs }) => Math.ceil(probeInMs))}::int[],
            ${batches.map(({ endpointId }) => endpointId)}::text[], ${batches.map(({ firstId }) => firstId)}::text[],
            ${batches.map(({ lastId }) => lastId)}::text[], ${batches.map(({ deliveries }) => deliveries)}::text[],
            ${JSON.stringify(troubles)}::jsonb,
            ${arrived.map(({ organizationId }) => organizationId)}::text[], ${arrived.map(({ endpointId }) => endpointId)}::text[],
            ${arrived.map(({ count }) => count)}::int[], ${arrived.map(({ latencies }) => `{${latencies.join()}}`)}::text[]
          ) as id`.pipe(
          // What a partner has answered is written down, should the database be away for a moment: else it would be sent again.
          Effect.retry({
            while: ({ reason }) => isTransient(reason),
            schedule: Schedule.spaced("500 millis"),
            times: MAX_WRITE_TRIES,
          }),
          Effect.map((rows) => new Set(rows.map(({ id }) => id))),
          orDieAs("EndpointReaders.write"),
        )
      },

      behind: (worker) =>
        sql<{ endpointId: EndpointId }>`
          select reader.endpoint_id as "endpointId" from endpoint_readers reader
          cross join lateral reader_position(reader.endpoint_id) position
          join organization_clock clock on clock.organization_id = reader.organization_id
          where owner = ${worker}::uuid and clock.last > begun_at`.pipe(
          Effect.map((rows) => rows.map(({ endpointId }) => endpointId)),
          orDieAs("EndpointReaders.behind"),
        ),

      wrote: (withinSeconds) =>
        sql<{ id: OrganizationId }>`
          select organization_id as id from organization_clock
          where last > clock_timestamp() - make_interval(secs => ${withinSeconds}::double precision)`.pipe(
          Effect.map((rows) => rows.map(({ id }) => id)),
          orDieAs("EndpointReaders.wrote"),
        ),

      nextDue: (worker, endpoints) => {
        const due = sql.literal('(extract(epoch from due_at - clock_timestamp()) * 1000)::double precision as "inMs"')
        const rows =
          endpoints === undefined
            ? sql<NextRow>`
              select reader.endpoint_id as "endpointId", ${due} from first_due() first
              join endpoint_readers reader on reader.endpoint_id = first.endpoint_id
              where owner = ${worker}::uuid`
            : sql<NextRow>`
              select endpoint_id as "endpointId", ${due} from endpoint_readers reader
              cross join lateral (
                select least(
                  (select due_at from deliveries where endpoint_id = reader.endpoint_id and owner is null and not replay
                    order by due_at limit 1),
                  (select due_at from deliveries where endpoint_id = reader.endpoint_id and owner is null and replay
                    order by due_at limit 1)
                ) as due_at
              ) next
              where owner = ${worker}::uuid and reader.endpoint_id = any (${endpoints}::text[]) and due_at is not null`
        return rows.pipe(orDieAs("EndpointReaders.nextDue"))
      },
    }
  }),
)

/** Creates the id of an event's delivery to an endpoint, as `delivery_id` does in the database: a UUIDv7 of the event's time, the rest a hash. */
export const deliveryId = (eventId: EventId, endpointId: EndpointId): DeliveryId => {
  const digest = hash("sha256", eventId + endpointId)
  return `dlv_${eventId.slice(4, 16)}7${digest.slice(0, 3)}b${digest.slice(3, 18)}` as DeliveryId
}

/** Lays progress out as the arguments of `write_progress`. */
const progressColumns = (progress: ReadonlyArray<Progress>) => {
  const moved = progress.filter(({ open }) => open !== undefined)
  const arrived = progress.flatMap(({ endpointId, outcomes }) => {
    const ofEndpoint = outcomes.filter(arrivedAtOnce)
    return ofEndpoint.length === 0 ? [] : [{ endpointId, outcomes: ofEndpoint }]
  })
  return {
    endpoints: moved.map(({ endpointId }) => endpointId),
    open: moved.map(({ open }) => open!.join()),
    places: moved.map(({ place }) => place?.emittedAt ?? ""),
    placeIds: moved.map(({ place }) => place?.id ?? ""),
    breakers: progress.flatMap(({ endpointId, breaker }) =>
      breaker === undefined ? [] : [{ endpointId, ...breaker }],
    ),
    batches: arrived.flatMap(({ endpointId, outcomes }) =>
      toBatches(outcomes).map((batch) => ({ endpointId, ...batch })),
    ),
    // In one order for all workers, because the rows that count them are locked in it.
    arrived: arrived
      .map(({ endpointId, outcomes }) => ({
        organizationId: outcomes[0]!.delivery.organizationId,
        endpointId,
        count: outcomes.length,
        latencies: latencyHistogram(outcomes.map(({ attempt }) => attempt.latencyMs ?? 0)),
      }))
      .toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1)),
    troubles: progress.flatMap(({ outcomes }) =>
      outcomes
        .filter((outcome) => !arrivedAtOnce(outcome))
        .map(({ delivery, settlement, attempt }) => ({
          isRow: delivery.isRow,
          organizationId: delivery.organizationId,
          id: delivery.id,
          endpointId: delivery.endpointId,
          eventId: delivery.eventId,
          state: settlement.state,
          delay: settlement.state === "retry" ? settlement.delaySeconds : null,
          attempt,
        })),
    ),
  }
}

/** Whether a delivery arrived that was read from the log, and so at its first attempt. */
const arrivedAtOnce = ({ delivery, settlement }: Outcome): boolean =>
  !delivery.isRow && settlement.state === "delivered"

/** How far apart in time the ids of one batch may be: whoever looks for an id looks at the batches that end so much later. */
export const BATCH_SPAN_MS = 8000

/** A row of `delivered` that holds many deliveries. */
interface Batch {
  readonly firstId: DeliveryId
  readonly lastId: DeliveryId
  /** As JSON: `[{ id, eventId, attempt }]`. */
  readonly deliveries: string
}

/** Puts deliveries of one endpoint that arrived at their first attempt into batches. */
const toBatches = (outcomes: ReadonlyArray<Pick<Outcome, "delivery" | "attempt">>): ReadonlyArray<Batch> => {
  const sorted = outcomes.toSorted((a, b) => (a.delivery.id < b.delivery.id ? -1 : 1))
  const batches: Array<Array<(typeof sorted)[number]>> = []
  for (const each of sorted) {
    const batch = batches.at(-1)
    if (batch !== undefined && madeAt(each.delivery.id) - madeAt(batch[0]!.delivery.id) <= BATCH_SPAN_MS)
      batch.push(each)
    else batches.push([each])
  }
  return batches.map((batch) => ({
    firstId: batch[0]!.delivery.id,
    lastId: batch.at(-1)!.delivery.id,
    deliveries: JSON.stringify(
      batch.map(({ delivery, attempt }) => ({ id: delivery.id, eventId: delivery.eventId, attempt })),
    ),
  }))
}
