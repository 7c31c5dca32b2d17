import type { FailureGroup } from "@outreach/postgres/deliveries/FailureGroups"
import { ForeignText } from "../../components/ForeignText.tsx"
import { StatusBadge } from "../../components/StatusBadge.tsx"

type Cause = Pick<FailureGroup, "reason" | "status" | "outcome" | "firstLine">

const WORDS: Readonly<Record<FailureGroup["reason"], string>> = {
  rejected: "rejected by the partner",
  exhausted: "out of attempts",
  poison: "crashed several workers",
}

/** What the dead letters of a group have in common. */
export const FailureCause = (cause: Cause) => (
  <>
    <StatusBadge tone="bad">{causeOf(cause)}</StatusBadge>{" "}
    {cause.firstLine === null ? <small>no text in the response</small> : <ForeignText>{cause.firstLine}</ForeignText>}{" "}
    <small>{WORDS[cause.reason]}</small>
  </>
)

/** Describes what the dead letters of a group have in common, in words. */
export const describeGroup = (cause: Cause): string =>
  `${causeOf(cause)}${cause.firstLine === null ? "" : `: ${cause.firstLine}`} (${WORDS[cause.reason]})`

/** The same words as a heading. */
export const GroupHeading = (cause: Cause) => (
  <>
    {causeOf(cause)}
    {cause.firstLine !== null && (
      <>
        : <ForeignText>{cause.firstLine}</ForeignText>
      </>
    )}{" "}
    ({WORDS[cause.reason]})
  </>
)

const causeOf = ({ status, outcome }: Cause): string =>
  status === null ? outcome.replaceAll("_", " ") : String(status)
