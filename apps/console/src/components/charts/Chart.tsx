import type { PlotOptions } from "@observablehq/plot"
import * as Plot from "@observablehq/plot"
import { parseHTML } from "linkedom"
import type { ComponentChildren } from "preact"
import { type Columns, Table } from "../layout.tsx"

export const Chart = <Row,>(props: {
  readonly title: string
  readonly label: string
  readonly plot: PlotOptions
  readonly rows: ReadonlyArray<Row>
  readonly columns: Columns<Row>
  readonly empty: ComponentChildren
  readonly legend?: ReadonlyArray<{ readonly name: string; readonly color: string }>
  /** Whether the chart takes half of a wide page. */
  readonly isNarrow?: boolean
}) => (
  <figure class={props.isNarrow ? "chart narrow" : "chart"}>
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
        <div
          class="scroll"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling box.
          tabIndex={0}
          dangerouslySetInnerHTML={{
            __html: renderPlot(props.label, { width: props.isNarrow ? HALF : WIDE, ...props.plot }),
          }}
        />
        <details>
          <summary>As a table</summary>
          <Table label={props.title} rows={props.rows} columns={props.columns} />
        </details>
      </>
    )}
  </figure>
)

const WIDE = 1000
const HALF = 520

const { document } = parseHTML("<html></html>")

/** The class of each chart, for its rules in the stylesheet: the content policy forbids inline styles. */
const CLASS = "plot"

/** Renders a chart as SVG that scales with its box. Colours are variables of the stylesheet, such as `var(--good)`. */
const renderPlot = (
  /** The main point of the chart in a sentence, for screen readers. */
  label: string,
  options: Plot.PlotOptions,
): string => {
  const svg = Plot.plot({
    className: CLASS,
    ...options,
    // With a title or caption, Plot would add a figure element.
    document: document as unknown as Document,
  }) as unknown as Element
  for (const style of svg.querySelectorAll("style")) style.remove()
  for (const text of svg.querySelectorAll("text")) showTick(text)
  // Plot labels groups without a role, which can't have a name.
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label")
  const links = svg.querySelectorAll("a")
  // Elements within an image can't be focused. The links are for the pointer; the table next to the chart has them for the keyboard.
  svg.setAttribute("role", links.length === 0 ? "img" : "group")
  for (const link of links) {
    link.setAttribute("tabindex", "-1")
    // A bar has no text: the number next to it has the same link.
    if (link.textContent?.trim()) link.setAttribute("aria-label", link.textContent)
    else link.setAttribute("aria-hidden", "true")
  }
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
