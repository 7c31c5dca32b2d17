import * as Plot from "@observablehq/plot"
import { formatCompact, formatCount } from "../format.ts"
import { Chart, isSmall } from "./Chart.tsx"

export const BurnUp = (props: {
  readonly title: string
  readonly unit: string
  readonly days: ReadonlyArray<{ readonly date: string; readonly count: number }>
  /** How many are expected by the days to come, with an interval; none without progress or a target. */
  readonly forecast: ReadonlyArray<{
    readonly date: string
    readonly expected: number
    readonly low: number
    readonly high: number
  }>
  readonly target: number | null
  readonly empty: string
}) => {
  const { title, unit, target, days, forecast } = props
  const last = days.at(-1)
  const end = forecast.at(-1)
  // From the last day on, so that the lines meet.
  const start = last && end && { date: last.date, expected: last.count, low: last.count, high: last.count }
  const expected = start === undefined ? [] : [start, ...forecast]
  const rows: ReadonlyArray<Partial<(typeof forecast)[number] & (typeof days)[number]>> = [...days, ...forecast]
  const highest = Math.max(1, target ?? 0, last?.count ?? 0, ...forecast.map(({ high }) => high))
  const ofTarget = target === null ? "" : ` of ${formatCount(target)}`
  const then = end === undefined ? "" : `, ${formatWhole(end.expected)} expected on ${end.date}`
  return (
    <Chart
      isNarrow
      title={title}
      label={
        last === undefined ? title : `${title}: ${formatCount(last.count)}${ofTarget} ${unit} on ${last.date}${then}`
      }
      empty={props.empty}
      legend={[
        { name: "counted", color: "var(--accent)" },
        ...(end === undefined ? [] : [{ name: "expected (dashed), with its interval", color: "var(--warning)" }]),
        ...(target === null ? [] : [{ name: "target", color: "var(--good)" }]),
      ]}
      rows={rows}
      columns={{
        "Date (UTC)": ({ date }) => date,
        [unit]: { number: ({ count }) => formatWhole(count) },
        Expected: { number: ({ expected }) => formatWhole(expected) },
        "At least": { number: ({ low }) => formatWhole(low) },
        "At most": { number: ({ high }) => formatWhole(high) },
      }}
      plot={(width) => ({
        height: isSmall(width) ? 200 : 240,
        marginLeft: 40,
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
          Plot.areaY(expected, { x: "date", y1: "low", y2: "high", fill: "var(--warning)", fillOpacity: 0.2 }),
          Plot.lineY(expected, {
            x: "date",
            y: "expected",
            stroke: "var(--warning)",
            strokeWidth: 2,
            strokeDasharray: "5 4",
          }),
          // Two days are no course: a line between them would look like one.
          days.length < 3
            ? Plot.dot(days, { x: "date", y: "count", fill: "var(--accent)", r: 4 })
            : Plot.lineY(days, { x: "date", y: "count", stroke: "var(--accent)", strokeWidth: 2.5 }),
          Plot.ruleY([0], { stroke: "var(--edge)" }),
          ...(target === null
            ? []
            : [
                Plot.ruleY([target], { stroke: "var(--good)", strokeWidth: 1.5 }),
                Plot.text([`target ${formatCount(target)}`], {
                  x: [(end ?? last)?.date],
                  y: [target],
                  textAnchor: "end",
                  dy: -8,
                }),
              ]),
        ],
      })}
    />
  )
}

const formatWhole = (count: number | undefined): string => (count === undefined ? "" : formatCount(Math.floor(count)))
