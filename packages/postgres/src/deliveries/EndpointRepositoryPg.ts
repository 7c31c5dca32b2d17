import { COUNT_CAP, LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { ChangedMeanwhile } from "@outreach/domain/DescribedError"
import { headerNames } from "@outreach/domain/deliveries/CustomHeaders"
import {
  Endpoint,
  EndpointNotFound,
  EndpointSettings,
  EndpointStatus,
  StoredEndpointUrl,
} from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import type { EndpointId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema, Struct } from "effect"
import type { Statement } from "effect/sql"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { allOf, assigned, columnOf, decodeColumn, decodeCount, equal, first, firstOr, rowsOf } from "../rowsOf.ts"
import { assertEndpointPresent } from "./assertEndpointPresent.ts"
import { readHeaders, writeHeaders } from "./endpointHeaders.ts"
import { NOT_FAILING } from "./FailingEndpointRepositoryPg.ts"
import { SecretCipher } from "./SecretCipher.ts"

const computed = { url: "shown_url(url)", ownSecrets: "shared_secrets_until < 'infinity'" }
const endpoints = rowsOf(Endpoint, computed)
const columns = endpoints.columnsOf("endpoint")
const endpointStatuses = rowsOf(EndpointStatus, {
  ...computed,
  organizationId: "endpoint.organization_id",
  breaker: `case when allowance is null then 'closed' when failures = 0 then 'recovering'
    when probe_at > statement_timestamp() then 'open' else 'probing' end`,
  nextProbeAt:
    "case when allowance is not null and failures > 0 and probe_at > statement_timestamp() then probe_at end",
  lagSeconds: "greatest(0, extract(epoch from statement_timestamp() - ahead.emitted_at))::double precision",
})
const decodeAddress = decodeColumn({ url: StoredEndpointUrl })
const limits = rowsOf(Schema.Struct({ present: Schema.Int, maxEndpoints: Schema.Int }), {
  present:
    "(select count(*)::int from webhook_endpoints where organization_id = organizations.id and removed_at is null)",
})
const decodeLast = decodeColumn({ last: Timestamp })

const END_BATCH_SIZE = 1000

export const EndpointRepositoryPg = adapter(EndpointRepository, function* (sql) {
  const hints = yield* Hints
  const cipher = yield* SecretCipher

  const wake = hints.give("endpoints")
  const noFailures = sql.literal(
    `failures = 0, allowance = null, probe_at = null, judged_since = clock_timestamp(), ${NOT_FAILING}`,
  )
  /** Resets the failures of endpoints. The next failure opens its group again, with a new start time. */
  const resetFailures = (endpointIds: Statement.Fragment) => sql`
          cleared as (
            update endpoint_readers set ${noFailures} where endpoint_id in (${endpointIds}) returning organization_id, endpoint_id
          ), lasting as materialized (
            select id from failure_groups where closed_at is null and (organization_id, endpoint_id) in (select * from cleared)
            order by id for update
          ), closed as (
            update failure_groups set closed_at = clock_timestamp() where id in (select id from lasting)
          )`
  /** Returns the endpoint that a statement changed; fails if there is none. */
  const changed =
    (endpointId: EndpointId) =>
    <E>(rows: Effect.Effect<ReadonlyArray<object>, E>) =>
      endpoints.decode(rows).pipe(
        Effect.tap((found) => (found.length > 0 ? wake : assertEndpointPresent(sql, endpointId))),
        firstOr(EndpointNotFound, { endpointId }),
      )
  const statuses = (isSelected: Statement.Fragment, cap: number) =>
    sql`
        select ${endpointStatuses.columns} from webhook_endpoints endpoint
        join endpoint_readers reader on reader.endpoint_id = endpoint.id
        cross join lateral reader_position(endpoint.id) position
        cross join lateral (
          select coalesce(min(emitted_at), begun_at) as position from events
          where organization_id = endpoint.organization_id and events.id = any (open)) first_open
        cross join lateral (
          select count(*)::int as lag_events, min(emitted_at) as emitted_at
          from events_after(endpoint.organization_id, event_types, begun_at, begun_id, 'infinity', ${cap}::int)) ahead
        cross join lateral (
          select (lag_events + sum(lane.count))::int as waiting, (sum(lane.count) filter (where is_replay))::int as waiting_replays,
            sum(case when lane.count < ${cap}::int then later else (
              select count(*) from (
                select from deliveries
                where endpoint_id = endpoint.id and replay = is_replay and deliveries.owner is null and due_at > statement_timestamp()
                order by due_at limit ${cap}::int
              ) following
            ) end)::int as due_later,
            least(ahead.emitted_at, min(first_due)) as oldest_due_at
          from unnest(array[false, true]) as lane_of (is_replay)
          cross join lateral (
            select count(*) as count, min(due_at) filter (where due_at <= statement_timestamp()) as first_due,
              count(*) filter (where due_at > statement_timestamp()) as later
            from (
              select due_at from deliveries
              where endpoint_id = endpoint.id and replay = is_replay and deliveries.owner is null
              order by due_at limit ${cap}::int
            ) first
          ) lane) trouble
        cross join lateral (
          select coalesce(sum(failure_groups.open), 0)::int as dead_letters, (count(*) filter (where closed_at is null))::int as causes
          from failure_groups where organization_id = endpoint.organization_id and endpoint_id = endpoint.id) failing
        cross join lateral (
          select (cardinality(open) + count(*))::int as in_flight
          from deliveries where endpoint_id = endpoint.id and deliveries.owner is not null) calling
        where ${isSelected} order by endpoint.id`.pipe(endpointStatuses.decode)

  return {
    countLocked: Effect.fnUntraced(function* (organizationId) {
      // Locked first: a subquery of the locking statement wouldn't see an endpoint that a concurrent call committed meanwhile.
      yield* sql`select from organizations where id = ${organizationId} for no key update`
      return yield* sql`select ${limits.columns} from organizations where id = ${organizationId}`.pipe(
        limits.decode,
        firstOr(OrganizationNotFound, { organizationId }),
      )
    }),

    create: ({ organizationId, id, url, since, ownSecrets = false, headers = null, ...others }) => {
      const settings = { ...others, headers: headerNames(headers) }
      const given = Struct.keys(EndpointSettings.fields).filter((name) => settings[name] !== undefined)
      return sql`
          with made as (
            insert into webhook_endpoints (${sql.csv(["id", "organization_id", "url", "shared_secrets_until", ...given.map(columnOf)])})
            select ${id}, id, ${url}, ${ownSecrets ? "-infinity" : "infinity"}::timestamptz
              ${sql.join("", false)(given.map((name) => sql`, ${settings[name]}`))}
            from organizations where id = ${organizationId}
            returning *
          ), reader as (
            insert into endpoint_readers (endpoint_id, organization_id) select id, organization_id from made
          ), position as (
            insert into reader_positions (organization_id, endpoint_id, begun_at, begun_id)
            select made.organization_id, made.id, coalesce(${since ?? null}::timestamptz, clock.last),
              case when ${since === undefined}::boolean then '~' else '' end
            from made join organization_clock clock using (organization_id)
          )
          select ${columns} from made endpoint`.pipe(
        endpoints.decode,
        firstOr(OrganizationNotFound, { organizationId }),
        Effect.tap((made) => (headers === null ? Effect.void : writeHeaders(sql, cipher, made, headers))),
        Effect.tap(wake),
      )
    },

    list: (organizationId, kind = "present") =>
      statuses(
        allOf(
          equal({ "endpoint.organization_id": organizationId }),
          kind === "removed" ? sql`removed_at is not null` : sql`removed_at is null`,
        ),
        LIST_COUNT_CAP,
      ),

    find: (endpointId) =>
      statuses(equal({ "endpoint.id": endpointId }), COUNT_CAP).pipe(firstOr(EndpointNotFound, { endpointId })),

    address: (endpointId, isLocked = false) =>
      sql`select url from webhook_endpoints where id = ${endpointId} ${sql.literal(isLocked ? "for no key update" : "")}`.pipe(
        decodeAddress,
        firstOr(EndpointNotFound, { endpointId }),
      ),

    headers: (endpointId) => Effect.map(readHeaders(sql, cipher, [endpointId]), ([found]) => found?.open() ?? null),

    detachFromLog: Effect.fnUntraced(function* (endpointId) {
      // Locked before its reader, in the same order as in every other statement.
      yield* sql`select from webhook_endpoints where id = ${endpointId} for no key update`
      // Locks the reader, so that the next statement sees its final position.
      yield* sql`select from endpoint_readers where endpoint_id = ${endpointId} for update`
      const rows = yield* sql`
          with reader as materialized (
            select endpoint.id as endpoint_id, endpoint.organization_id, event_types, begun_at, begun_id, last
            from webhook_endpoints endpoint
            cross join lateral reader_position(endpoint.id) position
            join organization_clock clock on clock.organization_id = endpoint.organization_id
            where endpoint.id = ${endpointId} and removed_at is null
          ), kept as (
            insert into deliveries (organization_id, id, endpoint_id, event_id, due_at)
            select event.organization_id, delivery_id(event.id, endpoint_id), endpoint_id, event.id, clock_timestamp()
            from reader join events event on event.organization_id = reader.organization_id
              and emitted_at >= begun_at and (emitted_at, event.id) > (begun_at, begun_id) and emitted_at <= last
              and (event_types is null or type = any (event_types))
            order by emitted_at, event.id
          )
          select last from reader`.pipe(decodeLast)
      for (const last of rows) {
        yield* sql`select update_positions(array[${endpointId}::text], array[''::text], array[''::text], array[${last}::text], array['~'::text])`
      }
    }),

    update: Effect.fnUntraced(function* (endpointId, { url, headers, ...others }, expected) {
      const settings = { ...others, headers: headers === undefined ? undefined : headerNames(headers) }
      const updated = yield* sql`
          with updated as (
            update webhook_endpoints endpoint set ${assigned({ url, ...Struct.pick(settings, Struct.keys(EndpointSettings.fields)) })}
              version = version + case when ${url !== undefined || headers !== undefined}::boolean then 1 else 0 end
            where id = ${endpointId} and removed_at is null and version::text = coalesce(${expected ?? null}, version::text)
            returning *
          ), ${resetFailures(sql`select id from updated where ${url !== undefined}::boolean`)}
          select ${columns} from updated endpoint`.pipe(endpoints.decode, first)
      if (updated === undefined) {
        yield* assertEndpointPresent(sql, endpointId)
        return yield* new ChangedMeanwhile({ id: endpointId })
      }
      if (headers !== undefined) yield* writeHeaders(sql, cipher, updated, headers)
      yield* wake
      if (settings.eventTypes !== undefined) yield* hints.give("due", updated.organizationId)
      return updated
    }),

    enable: (endpointId) =>
      sql`
          with enabled as (
            update webhook_endpoints set enabled = true, disabled_at = null, disabled_reason = null, version = version + 1
            where id = ${endpointId} and removed_at is null returning *
          ), ${resetFailures(sql`select id from enabled`)}
          select ${columns} from enabled endpoint`.pipe(changed(endpointId)),

    disable: (endpointId) =>
      sql`
          update webhook_endpoints endpoint set enabled = false, disabled_at = coalesce(disabled_at, clock_timestamp()),
            disabled_reason = 'operator'
          where id = ${endpointId} and removed_at is null returning ${columns}`.pipe(changed(endpointId)),

    remove: Effect.fnUntraced(function* (endpointId) {
      // An endpoint without event types has no pending events.
      const removed = yield* sql`
          update webhook_endpoints endpoint set removed_at = clock_timestamp(), enabled = false, event_types = '{}', url = shown_url(url)
          where id = ${endpointId} and removed_at is null returning ${columns}`.pipe(changed(endpointId))
      yield* sql`
          update endpoint_readers set ${noFailures} where endpoint_id = ${endpointId}`
      yield* sql`
          update signing_secrets set ciphertext = null, expires_at = least(expires_at, clock_timestamp())
          where endpoint_id = ${endpointId}`
      yield* writeHeaders(sql, cipher, removed, null)
      return removed
    }),

    endRemoved: sql`select end_removed(${END_BATCH_SIZE}::int) as count`.pipe(decodeCount),

    // Removed endpoints are kept for historyDays after their removal, because the delivery history can't be searched by endpoint.
    forgetRemoved: (historyDays) =>
      sql`
          with gone as materialized (
            select endpoint.id from webhook_endpoints endpoint
            where removed_at < plausible_now() - make_interval(days => ${historyDays}::int + 1) and not is_doubtful(removed_at)
              and not exists (select from deliveries where endpoint_id = endpoint.id)
              and not exists (select from dead_letters where endpoint_id = endpoint.id)
              and not exists (select from failure_groups where organization_id = endpoint.organization_id and endpoint_id = endpoint.id)
              and not exists (select from delivery_outcomes where endpoint_id = endpoint.id)
              and not exists (select from inbox where organization_id = endpoint.organization_id and endpoint_id = endpoint.id)
            order by removed_at limit 100 for update of endpoint skip locked
          ), secrets as (
            delete from signing_secrets where endpoint_id in (select id from gone)
          ), positions as (
            delete from reader_positions where endpoint_id in (select id from gone)
          ), readers as (
            delete from endpoint_readers where endpoint_id in (select id from gone)
          ), endpoints as (
            delete from webhook_endpoints where id in (select id from gone)
          )
          select count(*)::int as count from gone`.pipe(decodeCount),
  }
})
