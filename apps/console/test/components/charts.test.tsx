import { parseHTML } from "linkedom"
import { renderToString } from "preact-render-to-string"
import { expect, it } from "vitest"
import { Histogram } from "../../src/components/charts/Histogram.tsx"
import { Sparkline } from "../../src/components/charts/Sparkline.tsx"

const HOUR = 3_600_000
const FROM = Date.UTC(2026, 10, 23)

const histogram = (
  <Histogram
    title="Outcomes"
    series={[
      { name: "delivered", color: "var(--good)" },
      { name: "<failed>", color: "var(--bad)" },
    ]}
    buckets={[
      { at: FROM, counts: { delivered: 1200, "<failed>": 3 } },
      { at: FROM + HOUR, counts: { delivered: 7 } },
    ]}
    bucketMs={HOUR}
    from={FROM}
    to={FROM + 2 * HOUR}
    brush="/deliveries"
    empty="Nothing was delivered."
  />
)

it("a histogram has the numbers of its bars in a table, and says its totals to those who do not see it", () => {
  const { document } = parseHTML(`<html><body>${renderToString(histogram)}</body></html>`)
  const rows = [...document.querySelectorAll("tbody tr")].map(({ children }) =>
    Array.from(children, ({ textContent }) => textContent),
  )
  expect(rows).toEqual([
    ["2026-11-23 00:00", "1,200", "3"],
    ["2026-11-23 01:00", "7", "0"],
  ])
  expect(document.querySelector("svg[role=img]")!.getAttribute("aria-label")).toBe(
    "Outcomes: 1,207 delivered, 3 <failed>",
  )
  expect(document.querySelectorAll("svg[role=img] rect")).toHaveLength(4)
})

it("a chart brings no style of its own, which the content policy forbids", () => {
  const points = [1, 5, 2].map((value, i) => ({ at: new Date(FROM + i * HOUR), value }))
  const markup = renderToString(
    <>
      {histogram}
      <Sparkline label="Sent" points={points} />
    </>,
  )
  expect(markup).not.toMatch(/<style|\sstyle=/)
  expect(parseHTML(`<html><body>${markup}</body></html>`).document.querySelectorAll(".sparkline path")).toHaveLength(2)
})
