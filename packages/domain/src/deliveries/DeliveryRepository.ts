import { Context, type Effect } from "effect"
import type { DeliveryId } from "../Identifier.ts"

/** Keeps deliveries that have a row of their own. */
export class DeliveryRepository extends Context.Service<
  DeliveryRepository,
  {
    /** Makes a delivery due now that waits for its next attempt, which keeps its number; false if it does not wait. */
    retryNow(deliveryId: DeliveryId): Effect.Effect<boolean>
  }
>()("domain/deliveries/DeliveryRepository") {}
