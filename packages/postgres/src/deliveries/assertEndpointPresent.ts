import { EndpointNotFound, EndpointRemoved } from "@outreach/domain/deliveries/Endpoint"
import type { EndpointId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { decodeColumn, firstOr } from "../rowsOf.ts"

const decodeRemoved = decodeColumn({ removed_at: Schema.NullOr(Timestamp) })

/** Fails if an endpoint doesn't exist or was removed. */
export const assertEndpointPresent = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, endpointId: EndpointId) {
  const removedAt = yield* sql`
    select removed_at from webhook_endpoints where id = ${endpointId}`.pipe(
    decodeRemoved,
    firstOr(EndpointNotFound, { endpointId }),
  )
  if (removedAt !== null) return yield* new EndpointRemoved({ endpointId, removedAt })
})
