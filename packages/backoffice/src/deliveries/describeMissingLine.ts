import { failureGroupsOf } from "@outreach/postgres/deliveries/failureGroupsOf"
import type { FailureGroup } from "./FailureGroupReader.ts"

type Cause = Pick<FailureGroup, "id" | "endpointId" | "status" | "outcome">

/** Describes why a failure group has no first line: its id shows whether it had one before it was erased or deleted. */
export const describeMissingLine = ({ id, endpointId, status, outcome }: Cause): string => {
  const { blank } = failureGroupsOf(endpointId, { status, outcome, response: null })
  if (id !== blank.id) return "the text of the response was deleted"
  return status === null ? "no response" : "no text in the response, or an erased one"
}
