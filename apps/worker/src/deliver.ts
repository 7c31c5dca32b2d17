import { deliveryAttempts } from "@outreach/domain/deliveries/Deliveries"
import type { DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import type { Schedule } from "@outreach/retry-policy"
import { Clock, Effect, Metric, References } from "effect"
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
  const handle = yield* deliverOne(schedule)
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
    handle: ({ lease, claimedAt }) => handle(lease, claimedAt),
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

/** Makes the function that handles one lease. */
const deliverOne = Effect.fnUntraced(function* (schedule: Schedule) {
  const attempt = yield* deliveryAttempts(schedule)
  const context = yield* Effect.context<never>()
  const clock = yield* Clock.Clock
  const isTraced = yield* References.TracerEnabled

  return (lease: DeliveryLease, claimedAt: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const startedAt = lease.leasedAt + clock.currentTimeMillisUnsafe() - claimedAt
      if (lease.publishedAt !== null) {
        metrics.firstAttemptDelay.updateUnsafe(Math.max(0, startedAt - lease.publishedAt) / 1000, context)
      }
      const attempted = attempt(lease, claimedAt)
      return Effect.flatMap(isTraced ? traceAttempt(lease, attempted) : attempted, (result) => {
        metrics.attempts[result.outcome.reason].updateUnsafe(1, context)
        metrics.attemptDuration.updateUnsafe(result.attempt.latencyMs / 1000, context)
        const { state } = result.settlement
        const about = {
          deliveryId: lease.id,
          endpointId: lease.endpointId,
          eventId: lease.eventId,
          attempt: lease.attempt,
          reason: result.outcome.reason,
          state,
        }
        if (!result.settled) {
          metrics.settlementsRefused.updateUnsafe(1, context)
          return Effect.annotateLogs(Effect.logWarning("delivery lease lost before it was settled"), about)
        }
        if (state === "rejected" || state === "exhausted") {
          metrics.deadLetters[state].updateUnsafe(1, context)
          return Effect.annotateLogs(Effect.logWarning("delivery dead-lettered"), about)
        }
        return Effect.annotateLogs(Effect.logDebug("delivery attempted"), about)
      })
    })
})
