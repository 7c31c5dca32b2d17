import { type Attempt, UNKNOWN_OUTCOME } from "./Delivery.ts"
import type { DeliveryReason } from "./settleAttempt.ts"
import { NETWORK_FAILURES } from "./WebhookClient.ts"

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
  ...NETWORK_FAILURES,
  [UNKNOWN_OUTCOME]: "The worker was lost during the call",
}

/** Explains why a call failed, as the start of a sentence, such as `The partner responds with 500`. */
export const explainFailure = ({ status, outcome }: Pick<Attempt, "status" | "outcome">): string =>
  (FAILURES[outcome as Failure] ?? FAILURES.unknown).replace("{status}", String(status ?? "nothing"))
