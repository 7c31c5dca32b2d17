import * as Plot from "@observablehq/plot"
import { formatCompact, formatCount } from "../format.ts"
import { Chart } from "./Chart.tsx"

/** How many there were at the end of a day. */
export interface BurnUpDay {
  /** A UTC date, `2026-11-20`. */
  readonly date: string
  readonly count: number
}

/** How many are expected by the end of a day to come. */
export interface BurnUpForecast {
  readonly date: string
  readonly expected: number
  /** The interval of the expectation. */
  readonly low: number
  readonly high: number
}

interface BurnUpProps {
  readonly title: string
  /** What is counted, such as `learners`. */
  readonly unit: string
  readonly days: ReadonlyArray<BurnUpDay>
  /** Continues the days; none without progress or a target. */
  readonly forecast: ReadonlyArray<BurnUpForecast>
  readonly target: number | null
  readonly empty: string
}

/** A count that grows towards its target, and its forecast. */
export const BurnUp = (props: BurnUpProps) => {
  const last = props.days.at(-1)
  const days = props.days.map(({ date, count }) => ({ at: new Date(date), count }))
  // From the last day on, so that the lines meet.
  const forecast = [
    ...(last === undefined || props.forecast.length === 0
      ? []
      : [{ date: last.date, expected: last.count, low: last.count, high: last.count }]),
    ...props.forecast,
  ].map(({ date, ...counts }) => ({ at: new Date(date), ...counts }))
  const rows: ReadonlyArray<BurnUpRow> = [...props.days, ...props.forecast]
  const end = forecast.at(-1)?.at ?? days.at(-1)?.at
  const highest = Math.max(1, props.target ?? 0, last?.count ?? 0, ...forecast.map(({ high }) => high))
  return (
    <Chart
      isNarrow
      title={props.title}
      label={labelOf(props)}
      empty={props.empty}
      legend={[
        { name: "counted", color: "var(--accent)" },
        ...(forecast.length > 0 ? [{ name: "expected (dashed), with its interval", color: "var(--warning)" }] : []),
        ...(props.target === null ? [] : [{ name: "target", color: "var(--good)" }]),
      ]}
      rows={rows}
      columns={{
        "Date (UTC)": ({ date }) => date,
        [props.unit]: { number: ({ count }) => formatWhole(count) },
        Expected: { number: ({ expected }) => formatWhole(expected) },
        "At least": { number: ({ low }) => formatWhole(low) },
        "At most": { number: ({ high }) => formatWhole(high) },
      }}
      plot={{
        width: 520,
        height: 240,
        marginLeft: 48,
        marginRight: 16,
        x: { type: "utc", label: null },
        y: {
          grid: true,
          label: null,
          tickFormat: formatCompact,
          domain: [0, highest * 1.05],
          // Counts are whole: fewer of them have no more marks than there are.
          ticks: Math.min(5, Math.ceil(highest)),
        },
        marks: [
          Plot.areaY(forecast, { x: "at", y1: "low", y2: "high", fill: "var(--warning)", fillOpacity: 0.2 }),
          Plot.lineY(forecast, {
            x: "at",
            y: "expected",
            stroke: "var(--warning)",
            strokeWidth: 2,
            strokeDasharray: "5 4",
          }),
          Plot.lineY(days, { x: "at", y: "count", stroke: "var(--accent)", strokeWidth: 2.5 }),
          Plot.ruleY([0], { stroke: "var(--edge)" }),
          ...(props.target === null
            ? []
            : [
                Plot.ruleY([props.target], { stroke: "var(--good)", strokeWidth: 1.5 }),
                Plot.text([props.target], {
                  x: () => end,
                  y: (target: number) => target,
                  text: (target: number) => `target ${formatCount(target)}`,
                  textAnchor: "end",
                  dy: -8,
                }),
              ]),
        ],
      }}
    />
  )
}

type BurnUpRow = { readonly date: string } & Partial<BurnUpDay & BurnUpForecast>

const formatWhole = (count: number | undefined): string => (count === undefined ? "" : formatCount(Math.floor(count)))

const labelOf = (props: BurnUpProps): string => {
  const last = props.days.at(-1)
  if (last === undefined) return props.title
  const of = props.target === null ? "" : ` of ${formatCount(props.target)}`
  const end = props.forecast.at(-1)
  const then = end === undefined ? "" : `, ${formatCount(Math.floor(end.expected))} expected on ${end.date}`
  return `${props.title}: ${formatCount(last.count)}${of} ${props.unit} on ${last.date}${then}`
}
