import type { Outcome, Schedule } from "@outreach/retry-policy"
import { Struct } from "effect"
import type { Settlement } from "./DeliveryLeases.ts"
import type { EndpointSettings } from "./Endpoint.ts"
import { NETWORK_FAILURES, type WebhookResponse } from "./WebhookClient.ts"

/** Stored reason of an attempt's verdict: the status class, or the network failure. */
export const DELIVERY_REASONS = [
  "success",
  "client_error",
  "informational",
  "redirect",
  "server_error",
  "invalid_status",
  ...Struct.keys(NETWORK_FAILURES),
] as const
export type DeliveryReason = (typeof DELIVERY_REASONS)[number]

/** Verdict on one attempt at a delivery. */
interface Verdict extends Outcome {
  readonly reason: DeliveryReason
}

const BY_STATUS_CLASS: Readonly<Record<number, Verdict>> = {
  1: { verdict: "transient", reason: "informational" },
  2: { verdict: "success", reason: "success" },
  3: { verdict: "transient", reason: "redirect" },
  4: { verdict: "permanent", reason: "client_error" },
  5: { verdict: "transient", reason: "server_error" },
}

/**
 * Classifies the response to a delivery: 2xx is a success, 4xx permanent, all else transient.
 *
 * Statuses in `retryStatuses` (400 to 599) are transient, too. Source: Outreach Partner API specification, Events, Delivery rules, 4.
 */
export const classifyResponse = (response: WebhookResponse, retryStatuses: ReadonlyArray<number> = []): Verdict => {
  if ("error" in response) return { verdict: "transient", reason: response.error }
  const { status } = response
  const outcome = BY_STATUS_CLASS[Math.floor(status / 100)] ?? { verdict: "transient", reason: "invalid_status" }
  return retryStatuses.includes(status) ? { verdict: "transient", reason: outcome.reason } : outcome
}

/** An endpoint's rules for failures. */
export interface RetryRules extends Pick<EndpointSettings, "retryStatuses" | "disableOnGone"> {
  readonly schedule: Schedule
}

/** Failures of this service before a request was sent: they aren't attempts, and the endpoint isn't at fault. */
export const NOT_MADE: ReadonlyArray<string> = [
  "name_not_asked",
  "proxy_failed",
] satisfies ReadonlyArray<DeliveryReason>
const NOT_MADE_DELAY_SECONDS = 30

const GONE = 410

const FINAL = { success: "delivered", permanent: "rejected", exhausted: "exhausted", deadline: "exhausted" } as const

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
): Settlement & Pick<Verdict, "reason"> => {
  const { verdict, reason } = classifyResponse(response, retryStatuses)
  if (NOT_MADE.includes(reason)) return { reason, settlement: "retry", delay: NOT_MADE_DELAY_SECONDS }
  if (disableOnGone && "status" in response && response.status === GONE) return { reason, settlement: "gone" }
  const next = schedule.next({ attempt, outcome: { verdict } })
  if (!next.retry) return { reason, settlement: FINAL[next.because] }
  const isNamed = "status" in response && retryStatuses.includes(response.status)
  const asked = isNamed ? (response.retryAfterMs ?? 0) : 0
  // Only the delay: the database adds it to its own clock.
  const delay = Math.max(next.delay, Math.min(asked, schedule.delays[attempt] ?? 0)) / 1000
  return { reason, settlement: "retry", delay }
}
