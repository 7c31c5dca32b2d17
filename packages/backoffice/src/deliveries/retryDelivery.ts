import { DescribedError } from "@outreach/domain/DescribedError"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeliveryRepository"
import type { DeliveryId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { DeliveryReader } from "./DeliveryReader.ts"

/** The delivery has no row that waits for its next attempt. */
export class NothingToRetry extends DescribedError(
  "NothingToRetry",
  ({ deliveryId, state }: { readonly deliveryId: string; readonly state: string }) =>
    `The delivery ${deliveryId} has no pending retry: it is ${state}. Replay a dead letter instead. Events without an attempt are sent in the order of the log.`,
) {}

/** Makes a delivery that waits for its next attempt due now. Otherwise fails with its state. */
export const retryDelivery = Effect.fn("retryDelivery")(function* (deliveryId: DeliveryId) {
  if (yield* (yield* DeliveryRepository).retryNow(deliveryId)) return
  const { delivery } = yield* (yield* DeliveryReader).find(deliveryId)
  return yield* new NothingToRetry({ deliveryId, state: delivery.state })
})
