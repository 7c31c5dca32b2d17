import type { Outcome } from "@outreach/retry-policy"
import type { WebhookResponse } from "./WebhookClient.ts"

/**
 * Why no complete response came.
 *
 * `name_not_asked`: the name had no turn to be resolved, which says nothing of the receiver; `deadline`: the time for the whole attempt ran out; `blocked_address`: the name leads where calls may not go;
 * `unknown`: any other failure of the network.
 */
export type NetworkFailure =
  | "refused"
  | "reset"
  | "unresolved_name"
  | "name_not_asked"
  | "tls"
  | "connect_timeout"
  | "headers_timeout"
  | "body_timeout"
  | "deadline"
  | "blocked_address"
  | "unknown"

/** Why the verdict on an attempt is what it is, as it is stored: the class of the status, or the failure of the network. */
export type DeliveryReason =
  | "success"
  | "client_error"
  | "informational"
  | "redirect"
  | "server_error"
  | "invalid_status"
  | NetworkFailure

/** The verdict on one attempt at a delivery. */
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
 * Judges the response to a delivery: 2xx is a success, every 4xx permanent, all else transient. `Retry-After` counts for nothing, since the schedule is a promise.
 *
 * Source: Outreach Partner API specification, Events, Delivery rules, 4.
 */
export const classifyResponse = (response: WebhookResponse): DeliveryOutcome =>
  "error" in response
    ? { verdict: "transient", reason: response.error }
    : (BY_STATUS_CLASS[Math.floor(response.status / 100)] ?? { verdict: "transient", reason: "invalid_status" })
