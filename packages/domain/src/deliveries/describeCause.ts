import { type Attempt, UNKNOWN_OUTCOME } from "./Delivery.ts"
import type { DeliveryReason } from "./settleAttempt.ts"

/** Describes the result of an attempt briefly: its status, or the reason for having none, such as `connect timeout`. */
export const describeOutcome = ({ status, outcome }: Pick<Attempt, "status" | "outcome">): string =>
  status === null ? outcome.replaceAll("_", " ") : String(status)

/** Describes the cause of failures in one line, such as `500 upstream timeout`. */
export const describeCause = (
  group: Pick<Attempt, "status" | "outcome"> & { readonly firstLine: string | null },
): string => [describeOutcome(group), group.firstLine].filter((text) => text !== null).join(" ")

/** Returns the share of an endpoint's calls that failed since failures started, such as `80 %`; null once they have ended. */
export const describeShare = (group: { readonly failures: number; readonly calls: number | null }): string | null => {
  if (group.calls === null) return null
  const share = Math.min(1, group.failures / Math.max(1, group.calls))
  if (share < 0.01) return "below 1 %"
  // 100 % only if all calls failed.
  return `${share === 1 ? 100 : Math.min(99, Math.round(share * 100))} %`
}

type Failure = Exclude<DeliveryReason, "success"> | typeof UNKNOWN_OUTCOME

const FAILURES: Readonly<Record<Failure, string>> = {
  client_error: "The partner responds with {status}",
  server_error: "The partner responds with {status}",
  informational: "The partner's only response is {status}",
  redirect: "The partner responds with {status}, but redirects aren't followed",
  invalid_status: "The partner responds with {status}, which isn't an HTTP status",
  refused: "The connection is refused",
  reset: "The connection is closed before a response arrives",
  unresolved_name: "Its host name doesn't resolve",
  name_not_asked: "Its host name wasn't looked up in time because this service is overloaded",
  tls: "TLS fails, usually because of its certificate",
  connect_timeout: "It doesn't accept a connection in time",
  headers_timeout: "It doesn't respond in time",
  body_timeout: "Its response isn't complete in time",
  deadline: "The whole call takes too long",
  blocked_address: "Calls to its address aren't allowed, for example because it is in a private network",
  unknown: "The network fails",
  [UNKNOWN_OUTCOME]: "The worker was lost during the call",
}

/** Explains why a call failed, as the start of a sentence, such as `The partner responds with 500`. */
export const explainFailure = ({ status, outcome }: Pick<Attempt, "status" | "outcome">): string =>
  (FAILURES[outcome as Failure] ?? FAILURES.unknown).replace("{status}", String(status ?? "nothing"))
