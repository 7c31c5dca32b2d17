import type { Outcomes, OutcomesAt } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Histogram } from "./Histogram.tsx"

const SERIES = {
  delivered: "good",
  "4xx": "warning",
  "5xx": "bad",
  "another status": "neutral",
  "no response": "accent",
} as const

const countsOf = (outcomes: Outcomes): Readonly<Record<keyof typeof SERIES, number>> => ({
  delivered: outcomes.delivered,
  "4xx": outcomes.clientErrors,
  "5xx": outcomes.serverErrors,
  "another status": outcomes.otherStatuses,
  "no response": outcomes.noResponses,
})

/** Returns how many attempts there were, with any outcome. */
export const attemptsOf = (outcomes: Outcomes): number =>
  Object.values(countsOf(outcomes)).reduce((total, count) => total + count, 0)

/** Attempts at deliveries over time, by their outcome. */
export const OutcomesChart = (props: {
  readonly title: string
  readonly steps: ReadonlyArray<OutcomesAt>
  readonly stepSeconds: number
  /** The range that is shown, in Unix milliseconds. */
  readonly from: number
  readonly to: number
  /** The address that a brushed range is added to; without it there is no brush. */
  readonly brush?: string
  readonly empty: string
}) => (
  <Histogram
    {...props}
    series={SERIES}
    buckets={props.steps.map((step) => ({ at: toUnixMillis(step.at), counts: countsOf(step) }))}
    bucketMs={props.stepSeconds * 1000}
  />
)
