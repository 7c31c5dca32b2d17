import type { FailureGroup, FailureHour } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { HOUR_MS } from "../../components/charts/Histogram.tsx"
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

/** Returns where the first of a number of hours begins, of which the last one is the current hour. */
export const firstHour = (now: number, hours: number): number => (Math.floor(now / HOUR_MS) - hours + 1) * HOUR_MS

/** Counts by the hour, with a 0 for each hour without one. */
export const fillHours = (
  hours: ReadonlyArray<FailureHour>,
  from: number,
  count: number,
): ReadonlyArray<{ readonly at: Date; readonly value: number }> => {
  const counts = new Map(hours.map((each) => [toUnixMillis(each.hour), each.count]))
  return Array.from({ length: count }, (_, i) => {
    const at = from + i * HOUR_MS
    return { at: new Date(at), value: counts.get(at) ?? 0 }
  })
}
