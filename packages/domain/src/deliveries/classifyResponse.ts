import type { Outcome } from "@outreach/retry-policy"

/**
 * Reason for an incomplete response.
 *
 * `name_not_asked`: the name wasn't resolved in time because of other names; `deadline`: the time limit of the attempt; `blocked_address`: the name resolves to a forbidden address;
 * `unknown`: any other network failure.
 */
const NETWORK_FAILURES = [
  "refused",
  "reset",
  "unresolved_name",
  "name_not_asked",
  "tls",
  "connect_timeout",
  "headers_timeout",
  "body_timeout",
  "deadline",
  "blocked_address",
  "unknown",
] as const
export type NetworkFailure = (typeof NETWORK_FAILURES)[number]

/** Response to a delivery, or the reason why it is incomplete. */
export type WebhookResponse =
  | {
      readonly status: number
      readonly response: string
      /** Wait requested by the `Retry-After` of a 4xx or 5xx. */
      readonly retryAfterMs?: number | undefined
    }
  | {
      readonly error: NetworkFailure
      /** Result of a name server for an unresolvable name. */
      readonly response?: string
    }

/** Stored reason of an attempt's verdict: the status class, or the network failure. */
export const DELIVERY_REASONS = [
  "success",
  "client_error",
  "informational",
  "redirect",
  "server_error",
  "invalid_status",
  ...NETWORK_FAILURES,
] as const
export type DeliveryReason = (typeof DELIVERY_REASONS)[number]

/** Verdict on one attempt at a delivery. */
export interface DeliveryOutcome extends Outcome {
  readonly reason: DeliveryReason
}

const BY_STATUS_CLASS: Readonly<Record<number, DeliveryOutcome>> = {
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
export const classifyResponse = (
  response: WebhookResponse,
  retryStatuses: ReadonlyArray<number> = [],
): DeliveryOutcome => {
  if ("error" in response) return { verdict: "transient", reason: response.error }
  const { status } = response
  const outcome = BY_STATUS_CLASS[Math.floor(status / 100)] ?? { verdict: "transient", reason: "invalid_status" }
  return retryStatuses.includes(status) ? { verdict: "transient", reason: outcome.reason } : outcome
}
