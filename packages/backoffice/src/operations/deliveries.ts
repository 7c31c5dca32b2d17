import { DescribedError } from "@outreach/domain/DescribedError"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeliveryRepository"
import { DeliveryId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { DeliveryReader } from "../deliveries/DeliveryReader.ts"
import { operation } from "./Operation.ts"

/** The delivery has no row that waits for its next attempt. */
class NothingToRetry extends DescribedError(
  "NothingToRetry",
  "The delivery {deliveryId} has no pending retry: it is {state}. Replay a dead letter instead. Events without an attempt are sent in the order of the log.",
) {}

export const retryDelivery = operation("deliveries retry", {
  role: "operator",
  forPartners: true,
  about: "Make the next attempt of a pending delivery now",
  label: "Retry now",
  of: { deliveryId: DeliveryId },
  run: ({ deliveryId }) =>
    Effect.gen(function* () {
      if (yield* (yield* DeliveryRepository).retryNow(deliveryId)) return { delivery: deliveryId }
      const { delivery } = yield* (yield* DeliveryReader).find(deliveryId)
      return yield* new NothingToRetry({ deliveryId, state: delivery.state })
    }),
  done: () => "Scheduled now. A worker makes the attempt within a second unless the endpoint's breaker is open.",
})
