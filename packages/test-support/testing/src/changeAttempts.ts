import type { Attempt } from "@outreach/domain/deliveries/Delivery"
import type { DeliveryId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { replaceAttempts } from "@outreach/postgres/deliveries/replaceAttempts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Changes the attempts of an organization's dead letters, or of one of them, and their groups of failures. */
export const changeAttempts = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  change: (attempts: ReadonlyArray<Attempt>) => ReadonlyArray<Attempt>,
  id: DeliveryId | null = null,
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    readonly id: DeliveryId
    readonly endpointId: EndpointId
    readonly attempts: ReadonlyArray<Attempt>
  }>`
    select id, endpoint_id as "endpointId", attempts from dead_letters
    where organization_id = ${organizationId} and (${id}::text is null or id = ${id})`
  yield* replaceAttempts(
    sql,
    organizationId,
    rows.map((row) => ({ ...row, attempts: change(row.attempts) })),
  )
})
