import { DeliveryRepository } from "@outreach/domain/deliveries/DeliveryRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeRows } from "../rowsOf.ts"

const decodeOrganizations = decodeRows({ organizationId: OrganizationId })

export const DeliveryRepositoryPg = adapter(DeliveryRepository, function* (sql) {
  const hints = yield* Hints
  return {
    retryNow: Effect.fnUntraced(function* (deliveryId) {
      const rows = yield* sql`
          update deliveries set due_at = least(due_at, clock_timestamp()) where id = ${deliveryId} and owner is null
          returning organization_id as "organizationId"`.pipe(decodeOrganizations)
      for (const { organizationId } of rows) yield* hints.give("due", organizationId)
      return rows.length > 0
    }),
  }
})
