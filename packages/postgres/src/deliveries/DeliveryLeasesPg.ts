import { hash } from "node:crypto"
import type { CustomHeaders } from "@outreach/domain/deliveries/CustomHeaders"
import { Delivery } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLeases, EXCLUSIVE_FROM_LOSSES, NextDue, type Wanted } from "@outreach/domain/deliveries/DeliveryLeases"
import { DeliveryId, EndpointId, type EventId } from "@outreach/domain/Identifier"
import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { Effect, Schedule, Schema, Struct } from "effect"
import { adapter } from "../adapter.ts"
import { isTransient } from "../DatabaseFailure.ts"
import { Hints } from "../events/Hints.ts"
import { decodeRows, rowsOf } from "../rowsOf.ts"
import { readHeaders } from "./endpointHeaders.ts"
import { endpointOwnership } from "./endpointOwnership.ts"
import { progressColumns } from "./progressColumns.ts"
import { SecretCipher } from "./SecretCipher.ts"
import { openSecret, readActiveSecrets } from "./SigningSecretRepositoryPg.ts"

/** The number of attempts to write the outcomes of calls, twice a second. */
const MAX_WRITE_TRIES = 30

// Not decoded: batches have up to 4,096 deliveries, thousands a second.
const logRows = rowsOf(Delivery.mapFields(Struct.omit(["id", "isRow", "attempt", "losses", "isReplay"])), {
  databaseAheadMs: "read_at",
})
const dueRows = rowsOf(Delivery.mapFields(Struct.omit(["isRow", "emittedAt"])), {
  isReplay: "replay",
  databaseAheadMs: "taken_at",
})
const decodeWritten = decodeRows({ id: Schema.Union([EndpointId, DeliveryId]), again: Schema.Boolean })
const isEndpointId = Schema.is(EndpointId)
const isDeliveryId = Schema.is(DeliveryId)
const nextDue = rowsOf(NextDue, {
  endpointId: "reader.endpoint_id",
  inMs: "(extract(epoch from due_at - clock_timestamp()) * 1000)::double precision",
  isReplay: "replay",
})

export const DeliveryLeasesPg = adapter(DeliveryLeases, function* (sql) {
  const hints = yield* Hints
  const cipher = yield* SecretCipher
  const wantedBy = (wanted: ReadonlyArray<Wanted>) =>
    [wanted.map(({ endpointId }) => endpointId), wanted.map(({ limit }) => limit)] as const

  return {
    ...endpointOwnership(sql, hints),
    secrets: Effect.fnUntraced(function* (endpoints) {
      const versions = new Map(endpoints.map(({ endpointId, version }) => [endpointId, version]))
      const endpointIds = [...versions.keys()]
      const signing = yield* readActiveSecrets(sql, cipher, endpointIds)
      const secrets = new Map(
        Array.from(signing, ([id, signing]) => [id, { signing, headers: null as CustomHeaders | null }]),
      )
      for (const { endpointId, organizationId, version, open } of yield* readHeaders(sql, cipher, endpointIds)) {
        const headers = yield* openSecret(open, "headers of an endpoint", organizationId)
        const known = secrets.get(endpointId)
        // The headers of a later version may belong to another address.
        if (headers === undefined || version !== versions.get(endpointId)) secrets.delete(endpointId)
        else if (known !== undefined) secrets.set(endpointId, { ...known, headers })
      }
      return secrets
    }),

    read: Effect.fnUntraced(function* (worker, wanted) {
      const [endpoints, limits] = wantedBy(wanted)
      const known = wanted.map(({ events = [] }) => events.join())
      const rows = yield* sql`
          select ${logRows.columns} from begin_calls(${worker}::uuid, ${endpoints}::text[], ${limits}::int[], ${known}::text[])`
        .values
      const arrivedAt = yield* readMonotonicMs
      return rows.map((values): Delivery => {
        const row = logRows.fromValues(values)
        const id = deliveryId(row.eventId, row.endpointId)
        const databaseAheadMs = row.databaseAheadMs - arrivedAt
        return { ...row, id, isRow: false, attempt: 1, losses: 0, isReplay: false, databaseAheadMs }
      })
    }),

    takeDue: Effect.fnUntraced(function* (worker, wanted) {
      const [endpoints, limits] = wantedBy(wanted)
      const replays = wanted.map(({ limit, takesReplays = true }) => (takesReplays ? limit : 0))
      const rows = yield* sql`
          select ${dueRows.columns}
          from take_due(${worker}::uuid, ${endpoints}::text[], ${limits}::int[], ${replays}::int[], ${EXCLUSIVE_FROM_LOSSES}::int)`
        .values
      const arrivedAt = yield* readMonotonicMs
      return rows.map((values): Delivery => {
        const row = dueRows.fromValues(values)
        return { ...row, isRow: true, emittedAt: null, databaseAheadMs: row.databaseAheadMs - arrivedAt }
      })
    }),

    releaseUnknown: (worker, endpoints, known) =>
      sql`
          update deliveries set owner = null, owned_at = null
          where owner = ${worker}::uuid and endpoint_id = any (${endpoints}::text[]) and id <> all (${known}::text[])`,

    write: Effect.fnUntraced(function* (worker, progress) {
      const { closed, breakers, batches, arrivals, troubles } = progressColumns(progress)
      const rows = yield* sql`
          select id, again from write_outcomes(
            ${worker}::uuid, ${closed}::text[], ${JSON.stringify(breakers)}::jsonb, ${batches}::text[], ${arrivals}::text[],
            ${JSON.stringify(troubles)}::jsonb
          )`.pipe(
        // Retries while the database is unavailable. Without a recorded response the delivery would be sent again.
        Effect.retry({
          while: ({ reason }) => isTransient(reason),
          schedule: Schedule.spaced("500 millis"),
          times: MAX_WRITE_TRIES,
        }),
        decodeWritten,
      )
      const changed = rows.flatMap(({ id, again }) => (again ? id : []))
      const disabled = changed.filter(isEndpointId)
      if (disabled.length > 0) yield* hints.give("endpoints")
      return {
        refused: new Set(rows.flatMap(({ id, again }) => (again ? [] : id))),
        again: new Set(changed.filter(isDeliveryId)),
        disabled: new Set(disabled),
      }
    }),

    nextDue: (worker, endpoints) =>
      (endpoints === undefined
        ? sql`
            select ${nextDue.columns} from first_due() first
            join endpoint_readers reader on reader.endpoint_id = first.endpoint_id
            where owner = ${worker}::uuid`
        : sql`
            select ${nextDue.columns} from endpoint_readers reader
            cross join unnest(array[false, true]) as lane_of (is_replay)
            cross join lateral (
              select replay, due_at from deliveries where endpoint_id = reader.endpoint_id and owner is null and replay = is_replay
              order by due_at limit 1
            ) next
            where reader.owner = ${worker}::uuid and reader.endpoint_id = any (${endpoints}::text[])`
      ).pipe(nextDue.decode),
  }
})

/** Creates the id of an event's delivery to an endpoint: a UUIDv7 with the event's time and a hash. The same as `delivery_id` in the database. */
export const deliveryId = (eventId: EventId, endpointId: EndpointId): DeliveryId => {
  const digest = hash("sha256", eventId + endpointId)
  return `dlv_${eventId.slice(4, 16)}7${digest.slice(0, 3)}b${digest.slice(3, 18)}` as DeliveryId
}
