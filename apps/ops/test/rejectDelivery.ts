import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"

/** Publishes the scheduled campaign, and lets the partner reject its only due delivery. */
export const rejectDelivery = Effect.gen(function* () {
  yield* publishChunk()
  const { token, take } = yield* workerOn()
  const [delivery] = yield* take(1)
  const { id: deliveryId, endpointId } = delivery!
  const attempt = { number: 1, startedAt: fromUnixMillis(0), latencyMs: 12, status: 410, outcome: "client_error" }
  // A response that would clear the terminal, and show the rest backwards.
  const response = "gone\u001b[2J\u202Elive"
  const rejected = {
    ...{ delivery: delivery!, version: delivery!.version, attempt: { ...attempt, response } },
    settlement: "rejected" as const,
  }
  yield* (yield* DeliveryLeases).write(token, [{ endpointId, outcomes: [rejected] }])
  return { deliveryId, endpointId }
})
