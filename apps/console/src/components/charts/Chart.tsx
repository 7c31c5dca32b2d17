import type { PlotOptions } from "@observablehq/plot"
import * as Plot from "@observablehq/plot"
import { parseHTML } from "linkedom"
import { type Columns, Table } from "../layout.tsx"

export const Chart = <Row,>(props: {
  readonly title: string
  readonly label: string
  readonly plot: PlotOptions
  readonly rows: ReadonlyArray<Row>
  readonly columns: Columns<Row>
  readonly empty: string
  /** The attributes that a script of the browser reads, such as `data-brush`. */
  readonly data?: Readonly<Record<`data-${string}`, string>>
  readonly legend?: ReadonlyArray<{ readonly name: string; readonly color: string }>
  /** Whether the chart is drawn for half of a wide page. */
  readonly isNarrow?: boolean
}) => (
  <figure class={props.isNarrow ? "chart narrow" : "chart"} {...props.data}>
    <figcaption>{props.title}</figcaption>
    {props.rows.length === 0 ? (
      <p class="empty">{props.empty}</p>
    ) : (
      <>
        {props.legend !== undefined && (
          <ul class="legend">
            {props.legend.map(({ name, color }) => (
              <li key={name}>
                <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
                  <rect width="12" height="12" rx="2" fill={color} />
                </svg>{" "}
                {name}
              </li>
            ))}
          </ul>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
        <section class="drawing" aria-label={`${props.title}, drawn`} tabIndex={0}>
          <div class="canvas" dangerouslySetInnerHTML={{ __html: renderPlot(props.label, props.plot) }} />
        </section>
        <details>
          <summary>As a table</summary>
          <Table label={props.title} rows={props.rows} columns={props.columns} />
        </details>
      </>
    )}
  </figure>
)

const { document } = parseHTML("<html></html>")

/** The class of each chart, whose style stands in the stylesheet: the content policy allows no other. */
const CLASS = "plot"

/** Renders a chart as SVG that scales with its box. Colours are variables of the stylesheet, such as `var(--good)`. */
const renderPlot = (
  /** The main point of the chart, in a sentence for those who do not see it. */
  label: string,
  options: Plot.PlotOptions,
): string => {
  const svg = Plot.plot({
    className: CLASS,
    ...options,
    // With a title or caption, Plot would wrap the chart in a figure of its own.
    document: document as unknown as Document,
  }) as unknown as Element
  for (const style of svg.querySelectorAll("style")) style.remove()
  // Plot names its groups, which have no role that could have a name.
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label")
  const links = svg.querySelectorAll("a")
  // An image has nothing in it that can be reached. The links are for the pointer: the table beside the chart has them for the keyboard.
  svg.setAttribute("role", links.length === 0 ? "img" : "group")
  for (const link of links) {
    link.setAttribute("tabindex", "-1")
    link.setAttribute("aria-label", link.textContent ?? "")
  }
  svg.setAttribute("aria-label", label)
  svg.removeAttribute("width")
  svg.removeAttribute("height")
  return svg.outerHTML
}

export const Sparkline = (props: {
  readonly label: string
  readonly points: ReadonlyArray<{ readonly at: number; readonly value: number }>
}) => {
  if (props.points.length < 2) return null
  const markup = renderPlot(props.label, {
    width: 160,
    height: 36,
    margin: 2,
    axis: null,
    y: { domain: [0, Math.max(1, ...props.points.map(({ value }) => value))] },
    marks: [
      Plot.areaY(props.points, { x: "at", y: "value", fill: "var(--accent)", fillOpacity: 0.15 }),
      Plot.lineY(props.points, { x: "at", y: "value", stroke: "var(--accent)", strokeWidth: 1.5 }),
    ],
  })
  return <span class="sparkline" dangerouslySetInnerHTML={{ __html: markup }} />
}
