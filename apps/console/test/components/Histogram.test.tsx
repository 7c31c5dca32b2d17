import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { parseHTML } from "linkedom"
import type { VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { expect, it } from "vitest"
import { Histogram } from "../../src/components/Histogram.tsx"

const HOUR = 3_600_000
const FROM = Date.UTC(2026, 10, 23)

const histogram = (
  <Histogram
    title="Outcomes"
    series={{ delivered: ["good", ({ delivered }) => delivered], "<failed>": ["bad", ({ failed }) => failed] }}
    rows={[
      { at: FROM, delivered: 1200, failed: 3 },
      { at: FROM + HOUR, delivered: 7, failed: 0 },
    ]}
    at={({ at }) => fromUnixMillis(at)}
    stepMs={HOUR}
    from={FROM}
    to={FROM + 2 * HOUR}
    empty="Nothing was delivered."
  />
)

const parse = (chart: VNode) => parseHTML(`<html><body>${renderToString(chart)}</body></html>`).document
const rowsOf = (document: Document) =>
  [...document.querySelectorAll("tbody tr")].map(({ children }) =>
    Array.from(children, ({ textContent }) => textContent),
  )

it("a histogram has its numbers in a table, and a summary as its label", () => {
  const document = parse(histogram)
  expect(document.querySelector("svg[aria-label]")!.getAttribute("aria-label")).toBe(
    "Outcomes: 1,207 delivered, 3 <failed>",
  )
  expect(rowsOf(document)).toEqual([
    ["2026-11-23 00:00", "1,200", "3"],
    ["2026-11-23 01:00", "7", "0"],
  ])
})

it("a histogram draws a bar for each count but 0, with labeled axes", () => {
  const svg = parse(histogram).querySelector(".scroll svg")!
  expect(svg.querySelectorAll("rect")).toHaveLength(3)
  const labels = [...svg.querySelectorAll("text")].map(({ textContent }) => textContent)
  expect(labels).toEqual(expect.arrayContaining(["0", "1K", "11-23"]))
})
