import { Endpoint, EndpointNotFound, EndpointRemoved } from "@outreach/domain/deliveries/Endpoint"
import type { EndpointId } from "@outreach/domain/Identifier"
import { Effect, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { firstOr, rowsOf } from "../rowsOf.ts"

const presence = rowsOf(Endpoint.mapFields(Struct.pick(["organizationId", "removedAt"])))

/** Returns the organization of an endpoint; fails if the endpoint doesn't exist or was removed. */
export const assertEndpointPresent = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, endpointId: EndpointId) {
  const { organizationId, removedAt } = yield* sql`
    select ${presence.columns} from webhook_endpoints where id = ${endpointId}`.pipe(
    presence.decode,
    firstOr(EndpointNotFound, { endpointId }),
  )
  return removedAt === null ? organizationId : yield* new EndpointRemoved({ endpointId, removedAt })
})
