import { attemptDelivery } from "@outreach/domain/deliveries/Deliveries"
import type { DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import type { Schedule } from "@outreach/retry-policy"
import { Effect } from "effect"
import { leaseLoop } from "./leaseLoop.ts"
import { workerLimits } from "./workerLimits.ts"

const { atOnce, perEndpoint, leaseSeconds } = workerLimits.deliveries

/** Delivers webhooks as they fall due, until interrupted. */
export const deliver = Effect.fnUntraced(function* (options: {
  readonly schedule: Schedule
  readonly drainSeconds: number
}) {
  const queue = yield* DeliveryQueue
  return yield* leaseLoop("deliver", {
    atOnce,
    drainSeconds: options.drainSeconds,
    claim: (limit) => queue.claim({ limit, perEndpoint, leaseSeconds }),
    handle: (lease) => deliverOne(lease, options.schedule),
  })
})

const deliverOne = Effect.fnUntraced(function* (lease: DeliveryLease, schedule: Schedule) {
  const { settled, outcome, settlement } = yield* attemptDelivery(lease, schedule)
  if (!settled) return
  const about = {
    deliveryId: lease.id,
    endpointId: lease.endpointId,
    eventId: lease.eventId,
    attempt: lease.attempt,
    reason: outcome.reason,
    state: settlement.state,
  }
  const isDead = settlement.state === "rejected" || settlement.state === "exhausted"
  yield* (isDead ? Effect.logWarning("delivery dead-lettered") : Effect.logDebug("delivery attempted")).pipe(
    Effect.annotateLogs(about),
  )
})
