import * as Plot from "@observablehq/plot"
import { formatCompact, formatCount } from "../format.ts"
import { Chart, isSmall } from "./Chart.tsx"

const HOURS = 24

/** How many there were by each hour of today, beside yesterday. */
export const DayCurve = (props: {
  readonly title: string
  /** How many there were in each hour of yesterday, and in each whole hour of today. */
  readonly yesterday: ReadonlyArray<number>
  readonly today: ReadonlyArray<number>
  readonly empty: string
}) => {
  const [before, now] = [sumsOf(props.yesterday), sumsOf(props.today)]
  const last = now.length - 1
  const highest = Math.max(...before, ...now)
  const isEmpty = highest <= 0
  const rows = before.map((yesterday, hour) => ({ hour, yesterday, today: now[hour] }))
  const upTo = rows.filter(({ today }) => today !== undefined)
  return (
    <Chart
      title={props.title}
      label={`${props.title}: ${formatCount(now[last]!)} by ${timeOf(last)}, ${formatCount(before[last]!)} yesterday by then`}
      empty={props.empty}
      legend={[
        { name: "today", color: "var(--accent)" },
        { name: "yesterday (dashed)", color: "var(--neutral)" },
      ]}
      rows={isEmpty ? [] : rows}
      columns={{
        "By (UTC)": ({ hour }) => timeOf(hour),
        Today: { count: ({ today }) => today },
        Yesterday: { count: ({ yesterday }) => yesterday },
      }}
      plot={(width) => ({
        height: isSmall(width) ? 180 : 220,
        marginLeft: 40,
        marginRight: 24,
        x: {
          domain: [0, HOURS],
          label: null,
          ticks: isSmall(width) ? [0, 6, 12, 18, 24] : [0, 3, 6, 9, 12, 15, 18, 21, 24],
          tickFormat: timeOf,
        },
        y: {
          grid: true,
          label: null,
          tickFormat: formatCompact,
          domain: [Math.min(0, ...before, ...now), Math.max(1, highest)],
          ticks: Math.max(1, Math.min(5, highest)),
        },
        marks: [
          Plot.lineY(rows, {
            x: "hour",
            y: "yesterday",
            stroke: "var(--neutral)",
            strokeWidth: 2,
            strokeDasharray: "5 4",
          }),
          // After one hour there is no course yet.
          upTo.length < 3
            ? Plot.dot(upTo, { x: "hour", y: "today", fill: "var(--accent)", r: 4 })
            : Plot.lineY(upTo, { x: "hour", y: "today", stroke: "var(--accent)", strokeWidth: 2.5 }),
          Plot.ruleY([0], { stroke: "var(--edge)" }),
        ],
      })}
    />
  )
}

/** How many there were up to each hour, from midnight on. */
const sumsOf = (counts: ReadonlyArray<number>): ReadonlyArray<number> => {
  const sums = [0]
  for (const count of counts) sums.push(sums.at(-1)! + count)
  return sums
}

const timeOf = (hour: number): string => `${String(hour).padStart(2, "0")}:00`
