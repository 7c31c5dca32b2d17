import { hash } from "node:crypto"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import {
  ALONE_FROM_LOSSES,
  EndpointReaders,
  type Outcome,
  type Progress,
  type Wanted,
} from "@outreach/domain/deliveries/EndpointReaders"
import { latencyHistogram } from "@outreach/domain/deliveries/latencyBuckets"
import {
  type DeliveryId,
  type EndpointId,
  type EventId,
  madeAt,
  type OrganizationId,
} from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { isTransient, orDieAs } from "../DatabaseFailure.ts"
import { activeSecrets, touchSecrets } from "./activeSecrets.ts"
import { endpointOwnership } from "./endpointOwnership.ts"
import { failureGroupsOf } from "./failureGroupsOf.ts"

/** How often what came of calls is written again, twice a second. */
const MAX_WRITE_TRIES = 30

interface ReadRow {
  readonly endpointId: EndpointId
  readonly organizationId: OrganizationId
  readonly version: number
  readonly eventId: Delivery["eventId"]
  readonly body: string
  readonly traceparent: string | null
  readonly readAt: number
}

interface LogRow extends ReadRow {
  readonly emittedAt: Timestamp
}

interface DueRow extends ReadRow {
  readonly id: DeliveryId
  readonly attempt: number
  readonly isReplay: boolean
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

    const noteUseBy = (rows: ReadonlyArray<ReadRow>) =>
      noteUse([...new Set(rows.map(({ organizationId }) => organizationId))])

    const wantedBy = (wanted: ReadonlyArray<Wanted>) =>
      [wanted.map(({ endpointId }) => endpointId), wanted.map(({ limit }) => limit)] as const

    return {
      ...ownership,

      secrets: (organizationIds) => secretsOf(organizationIds).pipe(orDieAs("EndpointReaders.secrets")),

      read: Effect.fnUntraced(function* (worker, wanted) {
        const [endpoints, limits] = wantedBy(wanted)
        const rows = yield* sql<LogRow>`
          select endpoint_id as "endpointId", organization_id as "organizationId", version, event_id as "eventId", body, traceparent,
            emitted_at as "emittedAt", read_at as "readAt"
          from read_logs(${worker}::uuid, ${endpoints}::text[], ${limits}::int[])`
        yield* noteUseBy(rows)
        return rows.map((row): Delivery => {
          const id = deliveryId(row.eventId, row.endpointId)
          return { ...row, id, isRow: false, attempt: 1, losses: 0, isReplay: false }
        })
      }, orDieAs("EndpointReaders.read")),

      takeDue: Effect.fnUntraced(function* (worker, wanted) {
        const [endpoints, limits] = wantedBy(wanted)
        const rows = yield* sql<DueRow>`
          select endpoint_id as "endpointId", organization_id as "organizationId", version, id, event_id as "eventId", body, traceparent,
            attempt, replay as "isReplay", losses, taken_at as "readAt"
          from take_due(${worker}::uuid, ${endpoints}::text[], ${limits}::int[], ${ALONE_FROM_LOSSES}::int)`
        yield* noteUseBy(rows)
        return rows.map((row): Delivery => ({ ...row, isRow: true, emittedAt: null }))
      }, orDieAs("EndpointReaders.takeDue")),

      keepOnly: (worker, endpoints, known) =>
        sql`
          update deliveries set owner = null, owned_at = null
          where owner = ${worker}::uuid and endpoint_id = any (${endpoints}::text[]) and id <> all (${known}::text[])`.pipe(
          orDieAs("EndpointReaders.keepOnly"),
        ),

      write: (worker, progress) => {
        const { positions, breakers, batches, arrivals, troubles } = progressColumns(progress)
        return sql<{ id: EndpointId | DeliveryId; again: boolean }>`
          select id, again from write_progress(
            ${worker}::uuid, ${positions}::text[], ${JSON.stringify(breakers)}::jsonb, ${batches}::text[], ${arrivals}::text[],
            ${JSON.stringify(troubles)}::jsonb
          )`.pipe(
          // What a partner has answered is written down, should the database be away for a moment: else it would be sent again.
          Effect.retry({
            while: ({ reason }) => isTransient(reason),
            schedule: Schedule.spaced("500 millis"),
            times: MAX_WRITE_TRIES,
          }),
          Effect.map((rows) => ({
            refused: new Set(rows.flatMap(({ id, again }) => (again ? [] : id))),
            again: new Set(rows.flatMap(({ id, again }) => (again ? (id as DeliveryId) : []))),
          })),
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
  const arrived = progress.flatMap(({ endpointId, outcomes }) => {
    const [first, ...others] = outcomes.filter(arrivedAtOnce)
    return first === undefined
      ? []
      : [{ organizationId: first.delivery.organizationId, endpointId, outcomes: [first, ...others] }]
  })
  return {
    positions: progress.flatMap(({ endpointId, open, place }) =>
      open === undefined ? [] : [endpointId, open.join(), place?.emittedAt ?? "", place?.id ?? ""],
    ),
    breakers: progress.flatMap(({ endpointId, breaker }) =>
      breaker === undefined ? [] : [{ endpointId, ...breaker }],
    ),
    batches: arrived.flatMap(({ organizationId, endpointId, outcomes }) =>
      toBatches(outcomes).flatMap(({ firstId, lastId, deliveries }) => [
        organizationId,
        endpointId,
        firstId,
        lastId,
        deliveries,
      ]),
    ),
    // In one order for all workers, because the rows that count them are locked in it.
    arrivals: arrived
      .toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1))
      .flatMap(({ organizationId, endpointId, outcomes }) => {
        const latencies = latencyHistogram(outcomes.map(({ attempt }) => attempt.latencyMs ?? 0))
        return [organizationId, endpointId, String(outcomes.length), `{${latencies.join()}}`]
      }),
    troubles: progress.flatMap(({ outcomes }) => outcomes.filter((outcome) => !arrivedAtOnce(outcome)).map(toTrouble)),
  }
}

const toTrouble = ({ delivery, version, settlement, attempt }: Outcome) => ({
  isRow: delivery.isRow,
  organizationId: delivery.organizationId,
  id: delivery.id,
  endpointId: delivery.endpointId,
  eventId: delivery.eventId,
  version,
  settlement: settlement.state,
  delay: settlement.state === "retry" ? settlement.delaySeconds : null,
  attempt,
  groups:
    settlement.state === "rejected" || settlement.state === "exhausted"
      ? failureGroupsOf(delivery.endpointId, settlement.state, attempt)
      : null,
})

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
