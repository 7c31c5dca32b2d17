import * as Plot from "@observablehq/plot"
import { formatCount } from "../format.ts"
import { Chart } from "./Chart.tsx"

/** What was counted on a day. */
export interface HeatMapDay {
  /** A UTC date, `2026-11-20`. */
  readonly date: string
  readonly count: number
  /** The page of the day. */
  readonly href: string
}

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
const CELL_WIDTH = 40
const MIN_WEEKS = 10
const DAY_MS = 86_400_000
/** More weeks than these leave no room for numbers in the cells. */
const MAX_WEEKS_WITH_NUMBERS = 14

/** The days of a range by week and weekday, darker the more was counted. Each leads to its page. */
export const HeatMap = (props: {
  readonly title: string
  /** What is counted, such as `sent`. */
  readonly unit: string
  readonly days: ReadonlyArray<HeatMapDay>
  readonly empty: string
}) => {
  const highest = Math.max(0, ...props.days.map(({ count }) => count))
  const cells = props.days.map((day) => ({ ...day, ...placeOf(day.date), level: levelOf(day.count, highest) }))
  const weeks = [...new Set(cells.map(({ week }) => week))]
  const total = props.days.reduce((sum, { count }) => sum + count, 0)
  const best = props.days.find(({ count }) => count === highest && count > 0)
  const hasNumbers = weeks.length <= MAX_WEEKS_WITH_NUMBERS
  const place = { x: "week", y: "weekday" } as const
  return (
    <Chart
      isNarrow={hasNumbers}
      title={props.title}
      label={`${props.title}: ${formatCount(total)} ${props.unit} on ${formatCount(props.days.length)} days${best === undefined ? "" : `, most on ${best.date} with ${formatCount(best.count)}`}`}
      empty={props.empty}
      rows={props.days}
      columns={{
        "Date (UTC)": ({ date, href }) => <a href={href}>{date}</a>,
        [props.unit]: { count: ({ count }) => count },
      }}
      plot={{
        width: 48 + CELL_WIDTH * Math.max(MIN_WEEKS, weeks.length),
        height: 30 + 7 * 28,
        marginLeft: 40,
        marginTop: 24,
        marginBottom: 4,
        padding: 0.06,
        x: {
          domain: weeks,
          axis: "top",
          label: null,
          tickSize: 0,
          tickFormat: (week: string) => (weeks.indexOf(week) % Math.ceil(weeks.length / 14) === 0 ? week.slice(5) : ""),
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
            title: ({ date, count }: Cell) => `${date}: ${formatCount(count)} ${props.unit}`,
          }),
          ...(hasNumbers
            ? [
                Plot.text(cells, {
                  ...place,
                  text: ({ count }: Cell) => compact.format(count),
                  fill: ({ level }: Cell) => (level === LEVELS ? "var(--on-accent)" : "var(--text)"),
                  pointerEvents: "none",
                }),
              ]
            : []),
        ],
        color: { type: "identity" },
      }}
    />
  )
}

interface Cell extends HeatMapDay {
  /** The Monday of the week. */
  readonly week: string
  readonly weekday: string
  readonly level: number
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })

/** The number of the darkest level; 0 is for nothing. */
const LEVELS = 4

const levelOf = (count: number, highest: number): number => (count === 0 ? 0 : Math.ceil((LEVELS * count) / highest))

const placeOf = (date: string): { readonly week: string; readonly weekday: string } => {
  const day = Date.parse(date)
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  return { week: new Date(day - weekday * DAY_MS).toISOString().slice(0, 10), weekday: WEEKDAYS[weekday]! }
}
