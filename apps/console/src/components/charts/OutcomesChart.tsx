import type { Outcomes, OutcomesAt } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Histogram, type HistogramProps } from "./Histogram.tsx"

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

export const attemptsOf = (outcomes: Outcomes): number =>
  Object.values(countsOf(outcomes)).reduce((total, count) => total + count, 0)

export const OutcomesChart = (
  props: Omit<HistogramProps, "series" | "buckets" | "bucketMs"> & {
    readonly steps: ReadonlyArray<OutcomesAt>
    readonly stepSeconds: number
  },
) => (
  <Histogram
    {...props}
    series={SERIES}
    buckets={props.steps.map((step) => ({ at: toUnixMillis(step.at), counts: countsOf(step) }))}
    bucketMs={props.stepSeconds * 1000}
  />
)
