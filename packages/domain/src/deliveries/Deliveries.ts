import { classify, type NextAttempt, nextAttempt, type Outcome, type Schedule } from "@outreach/retry-policy"
import { Clock, Effect } from "effect"
import { fromUnixMillis } from "../Timestamp.ts"
import { Courier } from "./Courier.ts"
import type { Attempt, DeliveryLease } from "./Delivery.ts"
import { DeliveryQueue, type Settlement } from "./DeliveryQueue.ts"
import { Signer } from "./Signer.ts"
import { webhookHeaders } from "./webhookHeaders.ts"

const utf8 = new TextEncoder()

/** What one attempt at a delivery came to. */
export interface Attempted {
  /** Whether what came of it was written; false when the lease had ended meanwhile. */
  readonly settled: boolean
  readonly attempt: Attempt & { readonly latencyMs: number }
  readonly outcome: Outcome
  readonly settlement: Settlement
}

/**
 * Makes the function that makes one attempt at a leased delivery: signs afresh, posts, classifies, and settles what comes next.
 *
 * Its `claimedAt` is this worker's clock when it took the lease, in Unix milliseconds: time is told by the database's clock, as far as
 * it has gone on since then.
 */
export const deliveryAttempts = Effect.fnUntraced(function* (schedule: Schedule) {
  const clock = yield* Clock.Clock
  const courier = yield* Courier
  const queue = yield* DeliveryQueue
  const signer = yield* Signer

  return (lease: DeliveryLease, claimedAt: number): Effect.Effect<Attempted> =>
    Effect.suspend(() => {
      const now = () => lease.leasedAt + (clock.currentTimeMillisUnsafe() - claimedAt)
      const started = now()
      const body = utf8.encode(lease.body)
      const active = lease.secrets.filter(({ expiresAt }) => expiresAt === null || started < expiresAt)
      const headers = webhookHeaders(signer, body, {
        id: lease.id,
        attempt: lease.attempt,
        secrets: active.map(({ secret }) => secret),
        at: started,
      })
      return Effect.flatMap(courier.post(lease.url, headers, body), (reply) => {
        const finished = now()
        const outcome = classify(reply)
        const attempt = {
          number: lease.attempt,
          startedAt: fromUnixMillis(started),
          latencyMs: finished - started,
          status: "status" in reply ? reply.status : null,
          outcome: outcome.reason,
          response: "response" in reply ? reply.response : null,
        } satisfies Attempt
        const settlement = toSettlement(nextAttempt(schedule, lease.attempt, outcome, finished / 1000))
        return Effect.map(queue.settle(lease, attempt, settlement), (settled) => ({
          settled,
          attempt,
          outcome,
          settlement,
        }))
      })
    })
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
