import { OrganizationNotFound } from "@outreach/domain/callers/OrganizationRegistry"
import type { Endpoint, EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointBook, EndpointNotFound } from "@outreach/domain/deliveries/EndpointBook"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"

/** Keeps webhook endpoints in PostgreSQL. */
export const EndpointBookPg = Layer.effect(
  EndpointBook,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      organization_id as "organizationId", id, url, enabled, event_types as "eventTypes", created_at as "createdAt"`)

    const statuses = (which: { readonly organizationId?: OrganizationId; readonly id?: EndpointId }) =>
      sql<EndpointStatus>`
        select ${columns}, waiting, in_flight as "inFlight", oldest_due_at as "oldestDueAt", coalesce(failures, 0) as failures,
          case when allowance is null then 'closed' when failures = 0 then 'recovering'
            when probe_at > statement_timestamp() then 'open' else 'probing' end as breaker,
          case when allowance is not null and failures > 0 and probe_at > statement_timestamp() then probe_at end as "nextProbeAt"
        from webhook_endpoints endpoint
        left join endpoint_breakers breaker on breaker.endpoint_id = endpoint.id
        cross join lateral (
          select count(*)::int as waiting from deliveries where endpoint_id = endpoint.id and lease_until is null) queued
        cross join lateral (
          select count(*)::int as in_flight from deliveries where endpoint_id = endpoint.id and lease_until is not null) flying
        cross join lateral (
          select min(due_at) as oldest_due_at from (values (false), (true)) as kind (replay) cross join lateral (
            select due_at from deliveries
            where endpoint_id = endpoint.id and replay = kind.replay and lease_until is null and due_at <= statement_timestamp()
            order by due_at limit 1
          ) first) due
        where (${which.organizationId ?? null}::text is null or organization_id = ${which.organizationId ?? null})
          and (${which.id ?? null}::text is null or id = ${which.id ?? null})
        order by id`

    return {
      create: Effect.fn("EndpointBook.create")(function* (endpoint) {
        const rows = yield* sql<Endpoint>`
          insert into webhook_endpoints (id, organization_id, url, event_types)
          select ${endpoint.id}, id, ${endpoint.url}, ${endpoint.eventTypes}::text[]
          from organizations where id = ${endpoint.organizationId}
          returning ${columns}`
        return rows[0] ?? (yield* new OrganizationNotFound({ organizationId: endpoint.organizationId }))
      }, dieNaming("EndpointBook.create")),

      list: Effect.fn("EndpointBook.list")(
        (organizationId) => statuses(organizationId === undefined ? {} : { organizationId }),
        dieNaming("EndpointBook.list"),
      ),

      find: Effect.fn("EndpointBook.find")(function* (endpointId) {
        const rows = yield* statuses({ id: endpointId })
        return rows[0] ?? (yield* new EndpointNotFound({ endpointId }))
      }, dieNaming("EndpointBook.find")),

      update: Effect.fn("EndpointBook.update")(function* (endpointId, { url, eventTypes }) {
        const rows = yield* sql<Endpoint>`
          with updated as (
            update webhook_endpoints set url = coalesce(${url ?? null}, url),
              event_types = case when ${eventTypes !== undefined}::boolean then ${eventTypes ?? null}::text[] else event_types end
            where id = ${endpointId} returning *
          ), cleared as (
            delete from endpoint_breakers where endpoint_id = ${endpointId} and ${url !== undefined}::boolean
          ), woken as materialized (
            select pg_notify('deliveries', '') from updated
          )
          select ${columns} from updated, woken`
        return rows[0] ?? (yield* new EndpointNotFound({ endpointId }))
      }, dieNaming("EndpointBook.update")),

      enable: Effect.fn("EndpointBook.enable")(function* (endpointId) {
        const rows = yield* sql<Endpoint>`
          with enabled as (
            update webhook_endpoints set enabled = true where id = ${endpointId} returning *
          ), cleared as (
            delete from endpoint_breakers where endpoint_id = ${endpointId}
          ), woken as materialized (
            select pg_notify('deliveries', '') from enabled
          )
          select ${columns} from enabled, woken`
        return rows[0] ?? (yield* new EndpointNotFound({ endpointId }))
      }, dieNaming("EndpointBook.enable")),

      disable: Effect.fn("EndpointBook.disable")(function* (endpointId) {
        const rows = yield* sql<Endpoint>`
          update webhook_endpoints set enabled = false where id = ${endpointId} returning ${columns}`
        return rows[0] ?? (yield* new EndpointNotFound({ endpointId }))
      }, dieNaming("EndpointBook.disable")),
    }
  }),
)
