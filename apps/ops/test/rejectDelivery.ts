import { publishChunk } from "@outreach/domain/campaigns/Campaigns"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"

/** Publishes what is scheduled, and has the partner reject the one delivery that is due. */
export const rejectDelivery = Effect.gen(function* () {
  yield* publishChunk()
  const queue = yield* DeliveryQueue
  const [lease] = yield* queue.claim({ limit: 1, perEndpoint: 1, inAll: 1000, leaseSeconds: 60 })
  const { id: deliveryId, endpointId } = lease!
  const attempt = { number: 1, startedAt: fromUnixMillis(0), latencyMs: 12, status: 410, outcome: "client_error" }
  // A response that would clear the terminal.
  yield* queue.settle(lease!, { ...attempt, response: "gone\u001b[2J" }, { state: "rejected" })
  return { deliveryId, endpointId }
})
