import { DeliveryId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { retryDelivery as retryNow } from "../deliveries/retryDelivery.ts"
import { operation } from "./Operation.ts"

export const retryDelivery = operation("deliveries retry", {
  role: "operator",
  forPartners: true,
  about: "Make the next attempt of a pending delivery now",
  label: "Retry now",
  of: { deliveryId: DeliveryId },
  run: ({ deliveryId }) => Effect.as(retryNow(deliveryId), { delivery: deliveryId }),
  done: () => "Scheduled now. A worker makes the attempt within a second unless the endpoint's breaker is open.",
})
