import { toUnixMillis } from "@outreach/domain/Timestamp"
import type { Outcomes, OutcomesAt } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { Histogram } from "./Histogram.tsx"

const SERIES = [
  { name: "delivered", color: "var(--good)", key: "delivered" },
  { name: "4xx", color: "var(--warning)", key: "clientErrors" },
  { name: "5xx", color: "var(--bad)", key: "serverErrors" },
  { name: "another status", color: "var(--neutral)", key: "otherStatuses" },
  { name: "no response", color: "var(--accent)", key: "noResponses" },
] as const

/** Returns how many attempts there were, with any outcome. */
export const attemptsOf = (outcomes: Outcomes): number => SERIES.reduce((total, { key }) => total + outcomes[key], 0)

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
    buckets={props.steps.map((step) => ({
      at: toUnixMillis(step.at),
      counts: Object.fromEntries(SERIES.map(({ name, key }) => [name, step[key]])),
    }))}
    bucketMs={props.stepSeconds * 1000}
  />
)
