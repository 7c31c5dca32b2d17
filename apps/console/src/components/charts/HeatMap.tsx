import * as Plot from "@observablehq/plot"
import { formatCompact, formatCount } from "../format.ts"
import { Chart } from "./Chart.tsx"

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
const LABELS_WIDTH = 40
/** A cell with a number in it is not narrower. */
const MIN_CELL_WIDTH = 34
const MAX_CELL_WIDTH = 46
/** More weeks than these take the width of the page. */
const MAX_HALF_WEEKS = 14
const DAY_MS = 86_400_000
/** The number of the darkest level; 0 is for nothing. */
const LEVELS = 4

/** The days of a range by week and weekday, darker the more was counted. Each leads to its page. */
export const HeatMap = (props: {
  readonly title: string
  readonly unit: string
  readonly days: ReadonlyArray<{ readonly date: string; readonly count: number; readonly href: string }>
  readonly empty: string
}) => {
  const { title, unit, days } = props
  const highest = Math.max(0, ...days.map(({ count }) => count))
  const cells = days.map((day) => {
    const at = Date.parse(day.date)
    const weekday = (new Date(at).getUTCDay() + 6) % 7
    const monday = new Date(at - weekday * DAY_MS).toISOString().slice(0, 10)
    const level = day.count === 0 ? 0 : Math.ceil((LEVELS * day.count) / highest)
    return { ...day, week: monday, weekday: WEEKDAYS[weekday]!, level }
  })
  type Cell = (typeof cells)[number]
  const weeks = [...new Set(cells.map(({ week }) => week))]
  const total = days.reduce((sum, { count }) => sum + count, 0)
  const best = days.find(({ count }) => count === highest && count > 0)
  const most = best === undefined ? "" : `, most on ${best.date} with ${formatCount(best.count)}`
  const cellWidth = (width: number) => (width - LABELS_WIDTH) / weeks.length
  const isLabelled = (week: string, width: number) =>
    weeks.indexOf(week) % Math.ceil(MIN_CELL_WIDTH / cellWidth(width)) === 0
  const place = { x: "week", y: "weekday" } as const
  return (
    <Chart
      isNarrow={weeks.length <= MAX_HALF_WEEKS}
      title={title}
      label={`${title}: ${formatCount(total)} ${unit} on ${formatCount(days.length)} days${most}`}
      empty={props.empty}
      rows={days}
      columns={{
        "Date (UTC)": ({ date, href }) => <a href={href}>{date}</a>,
        [unit]: { count: ({ count }) => count },
      }}
      plot={(width) => ({
        height: 30 + 7 * 28,
        marginLeft: LABELS_WIDTH,
        marginRight: Math.max(8, width - LABELS_WIDTH - MAX_CELL_WIDTH * weeks.length),
        marginTop: 24,
        marginBottom: 4,
        padding: 0.06,
        x: {
          domain: weeks,
          axis: "top",
          label: null,
          tickSize: 0,
          tickFormat: (week: string) => (isLabelled(week, width) ? week.slice(5) : ""),
        },
        y: { domain: WEEKDAYS, label: null, tickSize: 0 },
        marks: [
          Plot.cell(cells, {
            ...place,
            fill: ({ level }: Cell) => `var(--heat-${level})`,
            stroke: "var(--edge)",
            strokeWidth: 0.75,
            rx: 3,
            href: "href",
            title: ({ date, count }: Cell) => `${date}: ${formatCount(count)} ${unit}`,
          }),
          Plot.text(cellWidth(width) < MIN_CELL_WIDTH ? [] : cells, {
            ...place,
            text: ({ count }: Cell) => formatCompact(count),
            fill: ({ level }: Cell) => (level === LEVELS ? "var(--on-accent)" : "var(--text)"),
            pointerEvents: "none",
          }),
        ],
        color: { type: "identity" },
      })}
    />
  )
}
