import { DeliveryRepository } from "@outreach/domain/deliveries/DeliveryRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn } from "../rowsOf.ts"

const decodeOrganizations = decodeColumn({ organization_id: OrganizationId })

export const DeliveryRepositoryPg = adapter(DeliveryRepository, function* (sql) {
  const hints = yield* Hints
  return {
    retryNow: Effect.fnUntraced(function* (deliveryId) {
      const organizations = yield* sql`
          update deliveries set due_at = least(due_at, clock_timestamp()) where id = ${deliveryId} and owner is null
          returning organization_id`.pipe(decodeOrganizations)
      for (const organizationId of organizations) yield* hints.give("due", organizationId)
      return organizations.length > 0
    }),
  }
})
