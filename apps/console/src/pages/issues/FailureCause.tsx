import type { FailureGroup } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { ForeignText, foreign, StatusBadge } from "../../components/values.tsx"

type Cause = Pick<FailureGroup, "reason" | "status" | "outcome" | "firstLine">

const WORDS: Readonly<Record<FailureGroup["reason"], string>> = {
  rejected: "rejected by the partner",
  exhausted: "out of attempts",
  poison: "crashed several workers",
}

export const FailureCause = (cause: Cause) => (
  <>
    <StatusBadge tone="bad">{causeOf(cause)}</StatusBadge>{" "}
    {cause.firstLine === null ? <small>no text in the response</small> : <ForeignText>{cause.firstLine}</ForeignText>}{" "}
    <small>{WORDS[cause.reason]}</small>
  </>
)

/** Returns the same as a title. */
export const groupTitle = (cause: Cause) =>
  cause.firstLine === null
    ? `${causeOf(cause)} (${WORDS[cause.reason]})`
    : foreign`${causeOf(cause)}: ${cause.firstLine} (${WORDS[cause.reason]})`

const causeOf = ({ status, outcome }: Cause): string =>
  status === null ? outcome.replaceAll("_", " ") : String(status)
