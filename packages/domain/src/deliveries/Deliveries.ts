import { classify, type NextAttempt, nextAttempt, type Schedule } from "@outreach/retry-policy"
import { Clock, Effect } from "effect"
import { fromUnixMillis } from "../Timestamp.ts"
import { Courier } from "./Courier.ts"
import type { Attempt, DeliveryLease } from "./Delivery.ts"
import { DeliveryQueue, type Settlement } from "./DeliveryQueue.ts"
import { Signer } from "./Signer.ts"

const utf8 = new TextEncoder()

/** Makes one attempt at a leased delivery: signs afresh, posts, classifies, and settles what comes next. */
export const attemptDelivery = Effect.fnUntraced(function* (lease: DeliveryLease, schedule: Schedule) {
  const courier = yield* Courier
  const queue = yield* DeliveryQueue
  const signer = yield* Signer
  const started = yield* Clock.currentTimeMillis
  const body = utf8.encode(lease.body)
  const reply = yield* courier.post(
    lease.url,
    {
      "Content-Type": "application/json",
      "X-Signature": signer.sign(body, lease.secrets, Math.floor(started / 1000)),
      "X-Delivery-Id": lease.id,
      "X-Delivery-Attempt": String(lease.attempt),
    },
    body,
  )
  const finished = yield* Clock.currentTimeMillis
  const outcome = classify(reply)
  const attempt: Attempt = {
    number: lease.attempt,
    startedAt: fromUnixMillis(started),
    latencyMs: finished - started,
    status: "status" in reply ? reply.status : null,
    outcome: outcome.reason,
    response: "response" in reply ? reply.response : null,
  }
  const settlement = toSettlement(nextAttempt(schedule, lease.attempt, outcome, finished / 1000))
  const settled = yield* queue.settle(lease, attempt, settlement)
  if (!settled) yield* Effect.logWarning("delivery lease lost before it was settled", { deliveryId: lease.id })
  return { settled, outcome, settlement }
})

const toSettlement = (next: NextAttempt): Settlement => {
  switch (next.state) {
    case "done":
      return { state: "delivered" }
    case "dead_letter":
      return { state: next.reason }
    // The delay alone: the database adds it to its own clock.
    case "retry":
      return { state: "retry", delaySeconds: next.delay }
  }
}
