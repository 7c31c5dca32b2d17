import { Context, type Effect } from "effect"
import type { DeliveryId } from "../Identifier.ts"

/** Stores deliveries with a row. */
export class DeliveryRepository extends Context.Service<
  DeliveryRepository,
  {
    /** Makes a waiting delivery due now; its attempt number stays. Returns false if it isn't waiting. */
    retryNow(deliveryId: DeliveryId): Effect.Effect<boolean>
  }
>()("domain/deliveries/DeliveryRepository") {}
