import * as Plot from "@observablehq/plot"
import { formatCompact, formatCount } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/operations/List"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { parseHTML } from "linkedom"
import type { ComponentChildren } from "preact"
import { Table } from "./layout.tsx"
import { Minute } from "./values.tsx"

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Counts over time as stacked bars, and as a table. */
export const Histogram = <Row,>(props: {
  readonly title: string
  /** The colour of each series in the stylesheet, and its count in a row. */
  readonly series: Readonly<Record<string, readonly [color: Tone | "accent", count: (row: Row) => number]>>
  readonly rows: ReadonlyArray<Row>
  readonly at: (row: Row) => Timestamp
  /** Length of a bar in milliseconds. Default an hour. */
  readonly stepMs?: number
  /** The shown range in Unix milliseconds. */
  readonly from: number
  readonly to: number
  readonly empty: string
}) => {
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
  const figure = (content: ComponentChildren) => (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      {content}
    </figure>
  )
  if (rows.length === 0) return figure(<p class="empty">{empty}</p>)
  const svg = renderPlot(`${title}: ${totals.join(", ")}`, {
    width: 1000,
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
  })
  return figure(
    <>
      <ul class="legend">
        {series.map(({ name, color }) => (
          <li key={name}>
            <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
              <rect width="12" height="12" rx="2" fill={color} />
            </svg>{" "}
            {name}
          </li>
        ))}
      </ul>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling box. */}
      <div class="scroll" tabIndex={0} dangerouslySetInnerHTML={{ __html: svg }} />
      <details>
        <summary>As a table</summary>
        <Table
          label={title}
          rows={rows}
          columns={{
            From: (row) => <Minute at={at(row)} />,
            ...Object.fromEntries(series.map(({ name, count }) => [name, { number: count }])),
          }}
        />
      </details>
    </>,
  )
}

const sumOf = <A,>(values: ReadonlyArray<A>, count: (value: A) => number): number =>
  values.reduce((sum, value) => sum + count(value), 0)

const { document } = parseHTML("<html></html>")

/** Renders a chart as SVG that scales with its box. Its label is its main point in a sentence, for screen readers. */
const renderPlot = (label: string, options: Plot.PlotOptions): string => {
  const svg = Plot.plot({
    // For its rules in the stylesheet: the content policy forbids inline styles.
    className: "plot",
    ...options,
    // With a title or caption, Plot would add a figure element.
    document: document as unknown as Document,
  }) as unknown as Element
  for (const style of svg.querySelectorAll("style")) style.remove()
  for (const text of svg.querySelectorAll("text")) showTick(text)
  // Plot labels groups without a role, which can't have a name.
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label")
  svg.setAttribute("role", "img")
  svg.setAttribute("aria-label", label)
  svg.removeAttribute("width")
  svg.removeAttribute("height")
  return svg.outerHTML
}

/** Shows an instant on an axis as the time of day, and at midnight as the date. The browser's script converts it to the page's zone. */
const showTick = (text: Element): void => {
  const at = text.textContent ?? ""
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(at)) return
  text.setAttribute("data-at", at)
  text.setAttribute("data-local", "tick")
  text.textContent = at.slice(11, 16) === "00:00" ? at.slice(5, 10) : at.slice(11, 16)
}
