import { hash } from "node:crypto"
import type { Attempt } from "@outreach/domain/deliveries/Delivery"
import { failureLine } from "@outreach/domain/deliveries/failureLine"
import type { EndpointId, FailureGroupId } from "@outreach/domain/Identifier"

/** The common cause of a group's failed calls, and the id derived from it. */
export interface FailureCause {
  readonly id: FailureGroupId
  readonly endpointId: EndpointId
  readonly status: number | null
  readonly outcome: string
  readonly line: string | null
}

/** The groups that a failed call may join. `choose_failure_group` selects one when the call is written. */
export interface FailureGroupsOf {
  /** Includes the first line of the response. */
  readonly exact: FailureCause
  /** For endpoints with many groups; null if the response has no first line. */
  readonly overflow: FailureCause | null
  /** For an erased response. */
  readonly blank: FailureCause
}

const OVERFLOW_LINE = "Many different responses"

/** Returns the groups that a failed attempt may join; undefined for a dead letter without attempts. */
export const failureGroupsOf = (
  endpointId: EndpointId,
  { status, outcome, response }: Pick<Attempt, "status" | "outcome" | "response"> = NO_ATTEMPT,
): FailureGroupsOf => {
  const withLine = (line: string | null): FailureCause => {
    const parts = [endpointId, status ?? "", outcome, line ?? ""]
    const id = `fgr_${hash("sha256", parts.join("\n")).slice(0, 32)}` as FailureGroupId
    return { id, endpointId, status, outcome, line }
  }
  const line = failureLine(response)
  return { exact: withLine(line), overflow: line === null ? null : withLine(OVERFLOW_LINE), blank: withLine(null) }
}

const NO_ATTEMPT = { status: null, outcome: "unknown", response: null }
