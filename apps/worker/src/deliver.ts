import { attemptDelivery } from "@outreach/domain/deliveries/Deliveries"
import type { DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import type { Schedule } from "@outreach/retry-policy"
import { Clock, Effect, Metric } from "effect"
import { leaseLoop } from "./leaseLoop.ts"
import { measureClaim } from "./measureClaim.ts"
import { metrics } from "./metrics.ts"
import { persist } from "./persist.ts"
import { traceAttempt } from "./traceAttempt.ts"
import { workerLimits } from "./workerLimits.ts"

/** How webhooks are delivered. */
export interface DeliverOptions {
  readonly schedule: Schedule
  readonly drainSeconds: number
  /** Calls in flight over all workers: in all, and to one endpoint. */
  readonly inAll: number
  readonly perEndpoint: number
  readonly leaseSeconds: number
}

/** Delivers webhooks as they fall due, until interrupted. */
export const deliver = Effect.fnUntraced(function* (options: DeliverOptions) {
  const { schedule, drainSeconds, inAll, perEndpoint, leaseSeconds } = options
  const queue = yield* DeliveryQueue
  const claim = Effect.fnUntraced(function* (limit: number) {
    const leases = yield* measureClaim(queue.claim({ limit, perEndpoint, inAll, leaseSeconds }))
    const claimedAt = yield* Clock.currentTimeMillis
    return leases.map((lease) => ({ lease, claimedAt }))
  })
  const atOnce = Math.min(workerLimits.deliveries.atOnce, inAll)
  const loop = leaseLoop("deliver", {
    atOnce,
    leastRoom: Math.min(workerLimits.deliveries.leastRoom, Math.ceil(atOnce / 2)),
    drainSeconds,
    claim,
    handle: ({ lease, claimedAt }) => deliverOne(lease, claimedAt, schedule),
    listen: queue.listen,
  })
  const recover = Effect.andThen(recoverLost, Effect.sleep(workerLimits.deliveries.recoverEveryMs))
  return yield* Effect.raceFirst(loop, persist("recover", recover))
})

const recoverLost = Effect.gen(function* () {
  for (const { deliveryId, endpointId, poison } of yield* (yield* DeliveryQueue).recoverLost) {
    yield* Metric.update(metrics.leasesLost, 1)
    if (poison) yield* Metric.update(metrics.deadLetters.poison, 1)
    yield* Effect.logWarning(
      poison ? "delivery dead-lettered" : "delivery lease ended without a word of what came of the attempt",
    ).pipe(Effect.annotateLogs({ deliveryId, endpointId, ...(poison && { state: "poison" }) }))
  }
})

const deliverOne = Effect.fnUntraced(function* (lease: DeliveryLease, claimedAt: number, schedule: Schedule) {
  const startedAt = lease.leasedAt + (yield* Clock.currentTimeMillis) - claimedAt
  if (lease.publishedAt !== null) {
    yield* Metric.update(metrics.firstAttemptDelay, Math.max(0, startedAt - lease.publishedAt) / 1000)
  }
  const { settled, attempt, outcome, settlement } = yield* traceAttempt(
    lease,
    attemptDelivery(lease, claimedAt, schedule),
  )
  yield* Metric.update(metrics.attempts[outcome.reason], 1)
  yield* Metric.update(metrics.attemptDuration, attempt.latencyMs / 1000)
  if (!settled) return yield* Metric.update(metrics.settlementsRefused, 1)
  const about = {
    deliveryId: lease.id,
    endpointId: lease.endpointId,
    eventId: lease.eventId,
    attempt: lease.attempt,
    reason: outcome.reason,
    state: settlement.state,
  }
  if (settlement.state === "rejected" || settlement.state === "exhausted") {
    yield* Metric.update(metrics.deadLetters[settlement.state], 1)
    yield* Effect.logWarning("delivery dead-lettered").pipe(Effect.annotateLogs(about))
  } else {
    yield* Effect.logDebug("delivery attempted").pipe(Effect.annotateLogs(about))
  }
})
