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

/**
 * Why no complete reply came.
 *
 * `name_not_asked`: the name had no turn to be resolved, which says nothing of the receiver; `deadline`: the time for the whole attempt ran out; `blocked_address`: the name leads where calls may not go;
 * `unknown`: any other failure of the network.
 */
export type NetworkFailure = (typeof NETWORK_FAILURES)[number]

/** What an attempt met: the status of a complete reply, or a failure of the network. */
export type Reply = { readonly status: number } | { readonly error: NetworkFailure }

/** Whether the attempt succeeded, failed for good, or failed for now. */
export type Verdict = "delivered" | "permanent" | "transient"

/** Why the verdict is what it is: the class of the status, or the failure of the network. */
export type Reason =
  | "success"
  | "client_error"
  | "informational"
  | "redirect"
  | "server_error"
  | "invalid_status"
  | NetworkFailure

/** The verdict on one attempt. */
export interface Outcome {
  readonly verdict: Verdict
  readonly reason: Reason
}

const BY_STATUS_CLASS: Readonly<Record<number, Outcome>> = {
  1: { verdict: "transient", reason: "informational" },
  2: { verdict: "delivered", reason: "success" },
  3: { verdict: "transient", reason: "redirect" },
  4: { verdict: "permanent", reason: "client_error" },
  5: { verdict: "transient", reason: "server_error" },
}

/**
 * Judges what an attempt met: 2xx is delivered, every 4xx permanent, all else transient.
 *
 * An error outweighs a status beside it, since the reply never ended; an error of another name is `unknown`, and a status
 * that is not an integer in 100–599 is `invalid_status`. Source: Outreach Partner API specification, Events, Delivery rules, 4.
 */
export function classify(reply: Reply): Outcome {
  if ("error" in reply) {
    return { verdict: "transient", reason: NETWORK_FAILURES.find((failure) => failure === reply.error) ?? "unknown" }
  }
  const statusClass = Number.isInteger(reply.status) ? Math.floor(reply.status / 100) : 0
  return BY_STATUS_CLASS[statusClass] ?? { verdict: "transient", reason: "invalid_status" }
}
