import { OrganizationNotFound } from "@outreach/domain/callers/OrganizationRegistry"
import type { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { EndpointBook, EndpointNotFound } from "@outreach/domain/deliveries/EndpointBook"
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
        (organizationId) => sql<Endpoint>`
          select ${columns} from webhook_endpoints
          where ${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null} order by id`,
        dieNaming("EndpointBook.list"),
      ),

      disable: Effect.fn("EndpointBook.disable")(function* (endpointId) {
        const rows = yield* sql<Endpoint>`
          update webhook_endpoints set enabled = false where id = ${endpointId} returning ${columns}`
        return rows[0] ?? (yield* new EndpointNotFound({ endpointId }))
      }, dieNaming("EndpointBook.disable")),
    }
  }),
)
