import { LONGEST_PROBE_WAIT } from "@outreach/domain/deliveries/breaker"
import type { ActiveSecret, Delivery } from "@outreach/domain/deliveries/Delivery"
import {
  ALONE_FROM_LOSSES,
  EndpointReaders,
  type LostDelivery,
  MAX_LOSSES,
  type OwnedEndpoint,
  type Progress,
  type Wanted,
} from "@outreach/domain/deliveries/EndpointReaders"
import { MAX_ACTIVE_SECRETS } from "@outreach/domain/deliveries/SecretVault"
import type { DeliveryId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Clock, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming, isTransient } from "./DatabaseFailure.ts"
import { deliveryId } from "./deliveryId.ts"
import { Hints } from "./Hints.ts"
import { noteSecretUse } from "./noteSecretUse.ts"
import { SecretCipher } from "./SecretCipher.ts"
import { toBatches } from "./toBatches.ts"

/** Owns what a lost worker's calls may have been made for, until it is recovered. */
const NOBODY = "00000000-0000-0000-0000-000000000000"

/** How many lost deliveries one statement takes back. */
const RECOVERED_TOGETHER = 1000

/** How often what came of calls is written again, twice a second. */
const WRITE_TRIES = 30

/** How many organizations' secrets are remembered. */
const MAX_KNOWN = 10_000

/** How long an organization's deliveries wait that cannot be signed with the key at hand. */
const UNREADABLE_WAIT_SECONDS = 60

interface ReadRow {
  readonly endpointId: EndpointId
  readonly organizationId: OrganizationId
  readonly url: string
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

interface SecretRow {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly ciphertext: Uint8Array
  readonly expiresAt: number | null
}

/** Keeps the readers in PostgreSQL. */
export const EndpointReadersPg = Layer.effect(
  EndpointReaders,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const cipher = yield* SecretCipher
    const hints = yield* Hints
    const noteUse = noteSecretUse(sql)

    const alive = sql.literal(`(
      select token from delivery_workers
      where alive_until > clock_timestamp() and alive_until < clock_timestamp() + interval '1 minute')`)

    /** Secrets by the ids of all that are active in an organization, so that a rotation is seen at once; undefined when one cannot be decrypted. */
    const known = new Map<string, ReadonlyArray<ActiveSecret> | undefined>()
    const readSecrets = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
      const rows = yield* sql<SecretRow>`
        select id, organization_id as "organizationId", ciphertext, extract(epoch from expires_at)::double precision * 1000 as "expiresAt"
        from signing_secrets where id = any (${ids.flatMap((each) => each.split(","))}::text[]) order by id desc`
      if (known.size > MAX_KNOWN) known.clear()
      for (const each of ids) {
        const secrets = rows.filter(({ id }) => each.includes(id))
        known.set(each, yield* decryptAll(secrets))
      }
    })
    // One organization's unreadable secret must not stop the others' deliveries.
    const decryptAll = (secrets: ReadonlyArray<SecretRow>) =>
      Effect.try(
        (): ReadonlyArray<ActiveSecret> =>
          secrets.map(({ ciphertext, expiresAt, organizationId }) => ({
            secret: cipher.decrypt(ciphertext, organizationId),
            expiresAt,
          })),
      ).pipe(
        Effect.catch(() =>
          Effect.as(
            Effect.logError("a signing secret cannot be decrypted; is SECRETS_KEY the key it was encrypted with?", {
              organizationId: secrets[0]!.organizationId,
            }),
            undefined,
          ),
        ),
      )

    /** Adds the secrets of each row's organization. */
    const withSecrets = Effect.fnUntraced(function* <Row extends ReadRow>(rows: ReadonlyArray<Row>) {
      const unknown = new Set(rows.flatMap(({ secretIds }) => (known.has(secretIds) ? [] : secretIds)))
      if (unknown.size > 0) yield* readSecrets([...unknown])
      yield* noteUse([...new Set(rows.map(({ organizationId }) => organizationId))])
      return rows.map((row) => [row, known.get(row.secretIds)] as const)
    })

    // Endpoints whose organization's secrets cannot be decrypted, and until when their logs are left alone.
    const unreadableUntil = new Map<EndpointId, number>()
    /** Gives events that were just read rows of their own, which are due when the secrets are tried again. */
    const postpone = Effect.fnUntraced(function* (worker: string, rows: ReadonlyArray<LogRow>) {
      const until = (yield* Clock.currentTimeMillis) + UNREADABLE_WAIT_SECONDS * 1000
      for (const { endpointId } of rows) unreadableUntil.set(endpointId, until)
      // The place moves past them in the same statement, so that each has its row and none is read again.
      yield* sql`
        with given as (
          select endpoint_id, array_agg(event_id) as events, max(emitted_at) as place,
            (array_agg(event_id order by emitted_at desc, event_id desc))[1] as place_id
          from unnest(
            ${rows.map(({ endpointId }) => endpointId)}::text[], ${rows.map(({ eventId }) => eventId)}::text[],
            ${rows.map(({ emittedAt }) => emittedAt)}::timestamptz[]
          ) as given (endpoint_id, event_id, emitted_at) group by endpoint_id
        ), moved as (
          update endpoint_readers reader set begun_at = place, begun_id = place_id
          from given where reader.endpoint_id = given.endpoint_id and owner = ${worker}::uuid
          returning reader.organization_id, reader.endpoint_id, events
        )
        insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, from_log)
        select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id,
          clock_timestamp() + make_interval(secs => ${UNREADABLE_WAIT_SECONDS}::double precision), true
        from moved cross join unnest(events) as event_id`
    })

    const wantedBy = (wanted: ReadonlyArray<Wanted>) =>
      [wanted.map(({ endpointId }) => endpointId), wanted.map(({ most }) => most)] as const

    return {
      live: Effect.fnUntraced(function* (worker, leaseSeconds) {
        const rows = yield* sql<{ rank: number; workers: number; endpoints: number }>`
          with me as (
            insert into delivery_workers (token, alive_until)
            values (${worker}::uuid, clock_timestamp() + make_interval(secs => ${leaseSeconds}::double precision))
            on conflict (token) do update set alive_until = excluded.alive_until
          ), forgotten as (
            delete from delivery_workers where alive_until < clock_timestamp() - interval '1 day'
          ), others as (
            select count(*)::int as count, count(*) filter (where token < ${worker}::uuid)::int as before
            from delivery_workers
            where token in ${alive} and token <> ${worker}::uuid and not stopping
          )
          select before as rank, count + 1 as workers,
            (select count(*)::int from webhook_endpoints where enabled) as endpoints
          from others`
        return rows[0]!
      }, dieNaming("EndpointReaders.live")),

      take: Effect.fnUntraced(function* (worker, most) {
        const rows = yield* sql<{ taken: number; takenOver: number }>`
          with free as materialized (
            select reader.* from endpoint_readers reader
            join webhook_endpoints endpoint on endpoint.id = reader.endpoint_id
            where enabled and (owner is null or owner not in ${alive})
            -- First those that a lost worker left, which wait already.
            order by owner is null limit ${most}::int for update of reader skip locked
          ), kept as (
            insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, owner, owned_at, from_log)
            select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id, clock_timestamp(), ${NOBODY}::uuid,
              intended_at, true
            from free cross join unnest(open) as event_id
          ), left_behind as (
            -- Also should its worker live again: it knows nothing of a row that was an event of the log to it.
            update deliveries set owner = ${NOBODY}::uuid
            from free where deliveries.endpoint_id = free.endpoint_id and deliveries.owner = free.owner
          ), taken as (
            update endpoint_readers set owner = ${worker}::uuid, open = '{}'
            from free where endpoint_readers.endpoint_id = free.endpoint_id
            returning free.owner as before
          )
          select count(*)::int as taken, count(before)::int as "takenOver" from taken`
        return rows[0]!
      }, dieNaming("EndpointReaders.take")),

      owned: (worker) =>
        sql<OwnedEndpoint>`
          select endpoint_id as "endpointId", reader.organization_id as "organizationId", enabled, max_in_flight as "maxInFlight",
            failures, allowance, greatest(0, extract(epoch from probe_at - clock_timestamp()) * 1000)::double precision as "probeInMs",
            coalesce(elsewhere.calls, 0)::int as "inFlightElsewhere"
          from endpoint_readers reader
          join webhook_endpoints endpoint on endpoint.id = endpoint_id
          left join (
            select endpoint_id, count(*) as calls from deliveries
            where owner is not null and owner <> ${worker}::uuid and owner in ${alive} group by endpoint_id
          ) elsewhere using (endpoint_id)
          where owner = ${worker}::uuid`.pipe(
          // Written while the database's clock was ahead, it may lie hours away.
          Effect.map((rows) =>
            rows.map((row) => ({ ...row, probeInMs: Math.min(row.probeInMs ?? 0, LONGEST_PROBE_WAIT * 1000) })),
          ),
          dieNaming("EndpointReaders.owned"),
        ),

      recover: (worker) =>
        sql<LostDelivery>`
        with lost as materialized (
          select delivery.organization_id, delivery.id from deliveries delivery
          join endpoint_readers reader on reader.endpoint_id = delivery.endpoint_id and reader.owner = ${worker}::uuid
          where delivery.owner is not null and delivery.owner not in ${alive}
          order by delivery.organization_id, delivery.id limit ${RECOVERED_TOGETHER}::int for update of delivery skip locked
        ), recovered as (
          update deliveries delivery set owner = null, losses = losses + 1
          from lost
          where delivery.organization_id = lost.organization_id and delivery.id = lost.id and losses < ${MAX_LOSSES - 1}::int
          returning delivery.*
        ), noted as (
          insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
          select organization_id, id, attempts + 1, owned_at, 'outcome_unknown' from recovered
        ), poison as (
          delete from deliveries delivery using lost
          where delivery.organization_id = lost.organization_id and delivery.id = lost.id and losses >= ${MAX_LOSSES - 1}::int
          returning delivery.*
        ), earlier as (
          delete from delivery_attempts made using poison
          where made.organization_id = poison.organization_id and made.delivery_id = poison.id
          returning made.*
        ), dead as (
          insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, created_at)
          select organization_id, id, endpoint_id, event_id, 'poison', coalesce((
              select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at) from earlier
              where earlier.organization_id = poison.organization_id and earlier.delivery_id = poison.id
            ), '[]') || attempt_json(attempts + 1, owned_at, null, null, 'outcome_unknown', null),
            created_at
          from poison
        )
        select id as "deliveryId", endpoint_id as "endpointId", false as poison from recovered
        union all
        select id, endpoint_id, true from poison`.pipe(dieNaming("EndpointReaders.recover")),

      handOver: Effect.fnUntraced(function* (worker, endpoints) {
        yield* sql`
          with reader as materialized (
            select reader.*, string_to_array(calling, ',') as calling
            from unnest(
              ${endpoints.map(({ endpointId }) => endpointId)}::text[], ${endpoints.map(({ calling }) => calling.join())}::text[]
            ) as given (id, calling)
            join endpoint_readers reader on reader.endpoint_id = given.id
            where owner = ${worker}::uuid
            order by reader.endpoint_id for update of reader
          ), kept as (
            insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, owner, owned_at, from_log)
            select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id, clock_timestamp(),
              case when event_id = any (calling) then owner end, case when event_id = any (calling) then intended_at end, true
            from reader cross join unnest(open) as event_id
          ), unbegun as (
            update deliveries set owner = null, owned_at = null
            where owner = ${worker}::uuid and id = any (${endpoints.flatMap(({ unbegun }) => unbegun)}::text[])
          )
          update endpoint_readers set owner = null, open = '{}'
          from reader where endpoint_readers.endpoint_id = reader.endpoint_id`
        yield* hints.give("endpoints")
      }, dieNaming("EndpointReaders.handOver")),

      stop: (worker) =>
        sql`update delivery_workers set stopping = true where token = ${worker}::uuid`.pipe(
          Effect.andThen(hints.give("endpoints")),
          dieNaming("EndpointReaders.stop"),
        ),

      leave: (worker) =>
        sql`delete from delivery_workers where token = ${worker}::uuid`.pipe(
          Effect.andThen(hints.give("endpoints")),
          dieNaming("EndpointReaders.leave"),
        ),

      read: Effect.fnUntraced(function* (worker, wanted) {
        const now = yield* Clock.currentTimeMillis
        const [endpoints, most] = wantedBy(wanted.filter(({ endpointId }) => !(unreadableUntil.get(endpointId)! > now)))
        if (endpoints.length === 0) return []
        // Without an order of the whole, which would sort the bodies: each endpoint's come in the order of the index.
        const rows = yield* sql<LogRow>`
          select reader.endpoint_id as "endpointId", reader.organization_id as "organizationId", url, event.id as "eventId", body,
            traceparent, emitted_at as "emittedAt", extract(epoch from clock_timestamp())::double precision * 1000 as "readAt",
            secret_ids as "secretIds"
          from unnest(${endpoints}::text[], ${most}::int[]) as wanted (id, most)
          join endpoint_readers reader on reader.endpoint_id = wanted.id
          join webhook_endpoints endpoint on endpoint.id = wanted.id
          cross join lateral active_secrets(reader.organization_id, ${MAX_ACTIVE_SECRETS}::int) as secret_ids
          cross join lateral (
            (select id, emitted_at, body, traceparent from events
              where event_types is null and organization_id = reader.organization_id and (emitted_at, id) > (begun_at, begun_id)
              order by emitted_at, id limit wanted.most)
            union all
            (select each.* from unnest(event_types) as type_of (type)
              cross join lateral (
                select id, emitted_at, body, traceparent from events
                where organization_id = reader.organization_id and type = type_of.type
                  and (emitted_at, id) > (begun_at, begun_id)
                -- By the type, too, so that a rare one is looked for in events_by_type, as the feed does.
                order by type, emitted_at, id limit wanted.most
              ) each
              order by emitted_at, id limit wanted.most)
          ) event
          where owner = ${worker}::uuid and enabled and secret_ids is not null`
        const deliveries: Array<Delivery> = []
        const unreadable: Array<LogRow> = []
        for (const [row, secrets] of yield* withSecrets(rows)) {
          const id = deliveryId(row.eventId, row.endpointId)
          if (secrets === undefined) unreadable.push(row)
          else deliveries.push({ ...row, id, isRow: false, attempt: 1, losses: 0, isReplay: false, secrets })
        }
        if (unreadable.length > 0) yield* postpone(worker, unreadable)
        return deliveries
      }, dieNaming("EndpointReaders.read")),

      takeDue: Effect.fnUntraced(function* (worker, wanted) {
        const [endpoints, most] = wantedBy(wanted)
        const rows = yield* sql<DueRow>`
          select endpoint_id as "endpointId", organization_id as "organizationId", url, id, event_id as "eventId", body, traceparent,
            attempt, replay, losses, taken_at as "readAt", secret_ids as "secretIds"
          from take_due(
            ${worker}::uuid, ${endpoints}::text[], ${most}::int[], ${ALONE_FROM_LOSSES}::int, ${MAX_ACTIVE_SECRETS}::int)`
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
      }, dieNaming("EndpointReaders.takeDue")),

      keepOnly: (worker, endpoints, known) =>
        sql`
          update deliveries set owner = null, owned_at = null
          where owner = ${worker}::uuid and endpoint_id = any (${endpoints}::text[]) and id <> all (${known}::text[])`.pipe(
          dieNaming("EndpointReaders.keepOnly"),
        ),

      write: (worker, progress) => {
        const { endpoints, open, places, placeIds, breakers, batches, troubles } = toColumns(progress)
        return sql<{ id: EndpointId | DeliveryId }>`
          select id from write_progress(
            ${worker}::uuid, ${endpoints}::text[], ${open}::text[], ${places}::text[], ${placeIds}::text[],
            ${breakers.map(({ endpointId }) => endpointId)}::text[], ${breakers.map(({ failures }) => failures)}::int[],
            array_replace(${breakers.map(({ allowance }) => allowance ?? 0)}::int[], 0, null), ${breakers.map(({ probeInMs }) => Math.ceil(probeInMs))}::int[],
            ${batches.map(({ endpointId }) => endpointId)}::text[], ${batches.map(({ firstId }) => firstId)}::text[],
            ${batches.map(({ lastId }) => lastId)}::text[], ${batches.map(({ deliveries }) => deliveries)}::text[],
            ${JSON.stringify(troubles)}::jsonb
          ) as id`.pipe(
          // What a partner has answered is written down, should the database be away for a moment: else it would be sent again.
          Effect.retry({
            while: ({ reason }) => isTransient(reason),
            schedule: Schedule.spaced("500 millis"),
            times: WRITE_TRIES,
          }),
          Effect.map((rows) => new Set(rows.map(({ id }) => id))),
          dieNaming("EndpointReaders.write"),
        )
      },

      behind: (worker) =>
        sql<{ endpointId: EndpointId }>`
          select endpoint_id as "endpointId" from endpoint_readers reader
          join organization_clock clock on clock.organization_id = reader.organization_id
          where owner = ${worker}::uuid and clock.last > begun_at`.pipe(
          Effect.map((rows) => rows.map(({ endpointId }) => endpointId)),
          dieNaming("EndpointReaders.behind"),
        ),

      wrote: (withinSeconds) =>
        sql<{ id: OrganizationId }>`
          select organization_id as id from organization_clock
          where last > clock_timestamp() - make_interval(secs => ${withinSeconds}::double precision)`.pipe(
          Effect.map((rows) => rows.map(({ id }) => id)),
          dieNaming("EndpointReaders.wrote"),
        ),

      nextDue: (worker, endpoints) =>
        sql<{ endpointId: EndpointId; inMs: number }>`
          select endpoint_id as "endpointId", (extract(epoch from due_at - clock_timestamp()) * 1000)::double precision as "inMs"
          from endpoint_readers reader
          cross join lateral (
            select least(
              (select due_at from deliveries where endpoint_id = reader.endpoint_id and owner is null and not replay
                order by due_at limit 1),
              (select due_at from deliveries where endpoint_id = reader.endpoint_id and owner is null and replay
                order by due_at limit 1)
            ) as due_at
          ) next
          where reader.owner = ${worker}::uuid and due_at is not null
            and (${endpoints === undefined}::boolean or reader.endpoint_id = any (${endpoints ?? []}::text[]))`.pipe(
          dieNaming("EndpointReaders.nextDue"),
        ),
    }
  }),
)

/** Lays progress out as the arguments of `write_progress`. */
const toColumns = (progress: ReadonlyArray<Progress>) => {
  const moved = progress.filter(({ open }) => open !== undefined)
  return {
    endpoints: moved.map(({ endpointId }) => endpointId),
    open: moved.map(({ open }) => open!.join()),
    places: moved.map(({ place }) => place?.emittedAt ?? ""),
    placeIds: moved.map(({ place }) => place?.id ?? ""),
    breakers: progress.flatMap(({ endpointId, breaker }) =>
      breaker === undefined ? [] : [{ endpointId, ...breaker }],
    ),
    batches: progress.flatMap(({ endpointId, outcomes }) =>
      toBatches(outcomes.filter(({ delivery, settlement }) => !delivery.isRow && settlement.state === "delivered")).map(
        (batch) => ({ endpointId, ...batch }),
      ),
    ),
    troubles: progress.flatMap(({ outcomes }) =>
      outcomes.flatMap(({ delivery, settlement, attempt }) =>
        !delivery.isRow && settlement.state === "delivered"
          ? []
          : [
              {
                isRow: delivery.isRow,
                organizationId: delivery.organizationId,
                id: delivery.id,
                endpointId: delivery.endpointId,
                eventId: delivery.eventId,
                state: settlement.state,
                delay: settlement.state === "retry" ? settlement.delaySeconds : null,
                attempt,
              },
            ],
      ),
    ),
  }
}
