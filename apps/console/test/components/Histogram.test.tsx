import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { parseHTML } from "linkedom"
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

it("a histogram draws a bar for each count but 0, with labeled axes", () => {
  const { document } = parseHTML(`<html><body>${renderToString(histogram)}</body></html>`)
  const svg = document.querySelector(".scroll svg")!
  expect(svg.querySelectorAll("rect")).toHaveLength(3)
  const labels = [...svg.querySelectorAll("text")].map(({ textContent }) => textContent)
  expect(labels).toEqual(expect.arrayContaining(["0", "1K", "11-23"]))
})
