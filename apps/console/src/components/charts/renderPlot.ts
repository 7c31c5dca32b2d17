import * as Plot from "@observablehq/plot"
import { parseHTML } from "linkedom"

const { document } = parseHTML("<html></html>")

/** The class of each chart, whose style stands in the stylesheet: the content policy allows no other. */
const CLASS = "plot"

/** Renders a chart as SVG that scales with its box. Colours are variables of the stylesheet, such as `var(--good)`. */
export const renderPlot = (
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
