import { DescribedError } from "@outreach/domain/DescribedError"
import type { DeliveryId, OrganizationId } from "@outreach/domain/Identifier"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Hints } from "@outreach/postgres/events/Hints"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryReader } from "./DeliveryReader.ts"

/** The delivery has no row of its own that waits for its next attempt. */
export class NothingToRetry extends DescribedError(
  "NothingToRetry",
  ({ deliveryId, state }: { readonly deliveryId: string; readonly state: string }) =>
    `The delivery ${deliveryId} waits for no retry: it is ${state}. A dead letter is replayed; what was never tried is sent in the order of the log.`,
) {}

/** Makes a delivery due now that waits for its next attempt, which keeps its number. */
export const retryDelivery = Effect.fn("retryDelivery")(function* (deliveryId: DeliveryId) {
  const sql = yield* SqlClient.SqlClient
  const hints = yield* Hints
  const rows = yield* sql<{ organizationId: OrganizationId }>`
    update deliveries set due_at = least(due_at, clock_timestamp()) where id = ${deliveryId} and owner is null
    returning organization_id as "organizationId"`
  for (const { organizationId } of rows) yield* hints.give("due", organizationId)
  if (rows.length > 0) return
  const { delivery } = yield* (yield* DeliveryReader).find(deliveryId)
  return yield* new NothingToRetry({ deliveryId, state: delivery.state })
}, orDieAs("retryDelivery"))
