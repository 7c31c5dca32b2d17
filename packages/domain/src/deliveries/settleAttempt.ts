import type { Schedule } from "@outreach/retry-policy"
import { classifyResponse, type DeliveryOutcome, type WebhookResponse } from "./classifyResponse.ts"
import type { Settlement } from "./DeliveryLeases.ts"
import type { EndpointSettings } from "./Endpoint.ts"

/** An endpoint's rules for failures. */
export interface RetryRules extends Pick<EndpointSettings, "retryStatuses" | "disableOnGone"> {
  readonly schedule: Schedule
}

/** Delay of a delivery with an unresolved name because of other names. It doesn't count as an attempt. */
const NOT_ASKED_DELAY_SECONDS = 30

const GONE = 410

/**
 * Classifies an attempt, numbered from 1, and decides the delivery's next state.
 *
 * `Retry-After` extends a delay only after a status that the endpoint lists: to the requested time, and at most to the delay after
 * the next one. The last delay isn't extended. The breaker of an endpoint that keeps failing can extend every delay.
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
    // Only the delay: the database adds it to its own clock.
    return settle({
      state: "retry",
      delaySeconds: Math.max(next.delay, Math.min(asked, schedule.delays[attempt] ?? 0)) / 1000,
    })
  }
  if (next.because === "success") return settle({ state: "delivered" })
  return settle({ state: next.because === "permanent" ? "rejected" : "exhausted" })
}
