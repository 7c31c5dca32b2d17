import * as Plot from "@observablehq/plot"
import type { Outcomes, OutcomesAt } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { formatCompact, formatCount } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/lists/List"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { Minute } from "../values.tsx"
import { Chart } from "./Chart.tsx"

/** The series: a colour of the stylesheet, and the count of a row. */
export type Series<Row> = Readonly<Record<string, readonly [color: Tone | "accent", count: (row: Row) => number]>>

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

interface HistogramProps<Row> {
  readonly title: string
  readonly series: Series<Row>
  readonly rows: ReadonlyArray<Row>
  readonly at: (row: Row) => Timestamp
  /** Length of a bar in milliseconds. Default an hour. */
  readonly stepMs?: number
  /** The shown range in Unix milliseconds. */
  readonly from: number
  readonly to: number
  readonly empty: string
}

/** Counts over time, stacked by series. */
export const Histogram = <Row,>(props: HistogramProps<Row>) => {
  const { title, rows, at, stepMs = HOUR_MS, from, to, empty } = props
  const series = Object.entries(props.series).map(([name, [color, count]]) => ({
    name,
    color: `var(--${color})`,
    count,
  }))
  const bars = rows.flatMap((row) => {
    const begin = toUnixMillis(at(row))
    const span = { from: begin, to: begin + stepMs }
    return series
      .map(({ name, count }) => ({ ...span, series: name, count: count(row) }))
      .filter(({ count }) => count > 0)
  })
  const highest = Math.max(0, ...rows.map((row) => sumOf(series, ({ count }) => count(row))))
  const totals = series.map(({ name, count }) => `${formatCount(sumOf(rows, count))} ${name}`)
  return (
    <Chart
      title={title}
      label={`${title}: ${totals.join(", ")}`}
      empty={empty}
      legend={series}
      rows={rows}
      columns={{
        From: (row) => <Minute at={at(row)} />,
        ...Object.fromEntries(series.map(({ name, count }) => [name, { count }])),
      }}
      plot={{
        height: 220,
        marginLeft: 40,
        marginRight: 16,
        x: { type: "utc", domain: [from, to], label: null, tickFormat: (at: Date) => at.toISOString() },
        // Counts are integers: more ticks would repeat them.
        y: {
          domain: [0, Math.max(1, highest)],
          grid: true,
          label: null,
          tickFormat: formatCompact,
          ticks: Math.max(1, Math.min(5, highest)),
        },
        color: { domain: series.map(({ name }) => name), range: series.map(({ color }) => color) },
        marks: [Plot.rectY(bars, { x1: "from", x2: "to", y: "count", fill: "series", inset: 0.5 }), Plot.ruleY([0])],
      }}
    />
  )
}

const sumOf = <A,>(values: ReadonlyArray<A>, count: (value: A) => number): number =>
  values.reduce((sum, value) => sum + count(value), 0)

const OUTCOMES: Series<Outcomes> = {
  delivered: ["good", ({ delivered }) => delivered],
  "4xx": ["warning", ({ clientErrors }) => clientErrors],
  "5xx": ["bad", ({ serverErrors }) => serverErrors],
  "other status": ["neutral", ({ otherStatuses }) => otherStatuses],
  "no response": ["accent", ({ noResponses }) => noResponses],
}

export const OutcomesChart = (props: Omit<HistogramProps<OutcomesAt>, "series" | "at">) => (
  <Histogram {...props} series={OUTCOMES} at={({ at }) => at} />
)
