import * as Plot from "@observablehq/plot"
import type { Outcomes, OutcomesAt } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { fromUnixMillis, toUnixMillis } from "@outreach/domain/Timestamp"
import { formatCompact, formatCount } from "../format.ts"
import type { Tone } from "../values.tsx"
import { Chart } from "./Chart.tsx"

/** The parts of the counts of a histogram, such as outcomes, with their colours in the stylesheet. */
export type Series = Readonly<Record<string, Tone | "accent">>

export interface Bucket {
  /** The bucket's beginning, in Unix milliseconds. */
  readonly at: number
  /** By the names of the series; one that is not there is 0. */
  readonly counts: Readonly<Record<string, number>>
}

export const HOUR_MS = 3_600_000

const WIDTH = 1000
const MARGIN = 48

export interface HistogramProps {
  readonly title: string
  readonly series: Series
  readonly buckets: ReadonlyArray<Bucket>
  /** The length of each bucket in milliseconds. Default an hour. */
  readonly bucketMs?: number
  /** The range that is shown, in Unix milliseconds. */
  readonly from: number
  readonly to: number
  /** The address that a brushed range is added to; without it there is no brush. */
  readonly brush?: string
  readonly empty: string
}

/** Counts over time, stacked by series. A range of it can be brushed: the browser's script then opens `brush` with `from` and `to`. */
export const Histogram = (props: HistogramProps) => {
  const { bucketMs = HOUR_MS } = props
  const names = Object.keys(props.series)
  const colors = Object.values(props.series).map((color) => `var(--${color})`)
  const bars = props.buckets.flatMap((bucket) =>
    names.map((name) => ({
      from: new Date(bucket.at),
      to: new Date(bucket.at + bucketMs),
      series: name,
      count: countOf(bucket, name),
    })),
  )
  const highest = Math.max(0, ...props.buckets.map((bucket) => sumOf(names, (name) => countOf(bucket, name))))
  const totals = names.map((name) => `${formatCount(sumOf(props.buckets, (bucket) => countOf(bucket, name)))} ${name}`)
  return (
    <Chart
      title={props.title}
      label={`${props.title}: ${totals.join(", ")}`}
      empty={props.empty}
      legend={names.map((name, i) => ({ name, color: colors[i]! }))}
      rows={props.buckets}
      columns={{
        "From (UTC)": ({ at }) => fromUnixMillis(at).slice(0, 16).replace("T", " "),
        ...Object.fromEntries(names.map((name) => [name, { count: (bucket: Bucket) => countOf(bucket, name) }])),
      }}
      {...(props.brush !== undefined && {
        data: {
          "data-brush": props.brush,
          "data-from": String(props.from),
          "data-to": String(props.to),
          "data-left": String(MARGIN / WIDTH),
          "data-right": String(1 - 16 / WIDTH),
        },
      })}
      plot={{
        width: WIDTH,
        height: 220,
        marginLeft: MARGIN,
        marginRight: 16,
        x: { type: "utc", domain: [new Date(props.from), new Date(props.to)], label: null, tickFormat: formatTick },
        // Counts are whole: fewer of them have no more marks than there are.
        y: {
          domain: [0, Math.max(1, highest)],
          grid: true,
          label: null,
          tickFormat: formatCompact,
          ticks: Math.max(1, Math.min(5, highest)),
        },
        color: { domain: names, range: colors },
        marks: [Plot.rectY(bars, { x1: "from", x2: "to", y: "count", fill: "series", inset: 0.5 }), Plot.ruleY([0])],
      }}
    />
  )
}

const countOf = ({ counts }: Bucket, name: string): number => counts[name] ?? 0

const sumOf = <A,>(values: ReadonlyArray<A>, count: (value: A) => number): number =>
  values.reduce((sum, value) => sum + count(value), 0)

/** Formats a place on the axis: the time of day, and the date at midnight. */
const formatTick = (at: Date): string => {
  const text = at.toISOString()
  return text.slice(11, 16) === "00:00" ? text.slice(5, 10) : text.slice(11, 16)
}

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
