import type { DeliveryReason } from "./classifyResponse.ts"
import { type Attempt, UNKNOWN_OUTCOME } from "./Delivery.ts"

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
  client_error: "The partner answers {status}",
  server_error: "The partner answers {status}",
  informational: "The partner answers {status}, and nothing after it",
  redirect: "The partner answers {status}, and redirects are not followed",
  invalid_status: "The partner answers {status}, which is not a status of HTTP",
  refused: "Nothing listens at its address: the connection is refused",
  reset: "The connection is cut before an answer comes",
  unresolved_name: "The name of its address does not resolve",
  name_not_asked: "The name of its address was not looked up in time, which is our own fault",
  tls: "TLS fails, mostly because of its certificate",
  connect_timeout: "It accepts no connection in time",
  headers_timeout: "It does not answer in time",
  body_timeout: "Its response does not end in time",
  deadline: "The whole call takes too long",
  blocked_address: "Its address leads where calls may not go, such as a private network",
  unknown: "The network fails",
  [UNKNOWN_OUTCOME]: "The worker was lost during the call",
}

/** Explains why a call failed, as the start of a sentence, such as `The partner answers 500`. */
export const explainFailure = ({ status, outcome }: Pick<Attempt, "status" | "outcome">): string =>
  (FAILURES[outcome as Failure] ?? FAILURES.unknown).replace("{status}", String(status ?? "nothing"))
