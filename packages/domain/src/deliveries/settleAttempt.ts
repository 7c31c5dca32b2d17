import type { Schedule } from "@outreach/retry-policy"
import { classifyResponse, type DeliveryOutcome } from "./classifyResponse.ts"
import type { OwnedEndpoint, Settlement } from "./DeliveryLeases.ts"
import type { WebhookResponse } from "./WebhookClient.ts"

/** How an endpoint wants its failures handled. */
export interface RetryRules extends Pick<OwnedEndpoint, "retryStatuses" | "disableOnGone"> {
  readonly schedule: Schedule
}

/** How long a delivery waits when its host's name had no turn to be resolved. That was no attempt, so it does not count as one. */
const NOT_ASKED_DELAY_SECONDS = 30

const GONE = 410

/**
 * Judges an attempt, numbered from 1, and decides what follows for its delivery.
 *
 * Only after a status that the endpoint names does `Retry-After` make a delay longer: to what it asks, and at most to the delay that comes after
 * the next. The last delay stays as it is. The breaker of an endpoint that keeps failing can make every delay longer.
 */
export const settleAttempt = (
  response: WebhookResponse,
  attempt: number,
  { retryStatuses, disableOnGone, schedule }: RetryRules,
): DeliveryOutcome & { readonly settlement: Settlement } => {
  const outcome = classifyResponse(response, retryStatuses)
  const settle = (settlement: Settlement) => ({ ...outcome, settlement })
  if (outcome.reason === "name_not_asked") return settle({ state: "retry", delaySeconds: NOT_ASKED_DELAY_SECONDS })
  if (disableOnGone && "status" in response && response.status === GONE) return settle({ state: "gone" })
  const next = schedule.next({ attempt, outcome: { verdict: outcome.verdict } })
  if (next.retry) {
    const isNamed = "status" in response && retryStatuses.includes(response.status)
    const asked = isNamed ? (response.retryAfterMs ?? 0) : 0
    // The delay alone: the database adds it to its own clock.
    return settle({
      state: "retry",
      delaySeconds: Math.max(next.delay, Math.min(asked, schedule.delays[attempt] ?? 0)) / 1000,
    })
  }
  if (next.because === "success") return settle({ state: "delivered" })
  return settle({ state: next.because === "permanent" ? "rejected" : "exhausted" })
}
