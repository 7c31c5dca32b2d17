import * as fc from "fast-check"
import { expect, it } from "vitest"
import { panel } from "../src/panel.ts"
import { OUTCOMES, type View } from "../src/View.ts"

const text = fc.string({ unit: "binary", maxLength: 200 })
const count = fc.nat(100_000_000)
const view: fc.Arbitrary<View> = fc.record({
  status: text,
  isStopping: fc.boolean(),
  addresses: fc.array(fc.record({ name: text, url: fc.webUrl(), note: text }), { maxLength: 6 }),
  note: fc.option(text, { nil: undefined }),
  pull: fc.array(text, { maxLength: 4 }),
  progress: fc.option(
    fc.record({
      ...{ status: text, recipients: count, published: count, sent: count, mails: count, webhooks: count },
      reconciled: count,
      outcomes: fc.record(Object.fromEntries(OUTCOMES.map((name) => [name, count]))) as fc.Arbitrary<never>,
    }),
    { nil: undefined },
  ),
  firstWebhook: fc.option(fc.record({ id: text, type: text, seconds: fc.double({ min: 0, max: 1e6, noNaN: true }) }), {
    nil: undefined,
  }),
  incidents: fc.array(text, { maxLength: 20 }),
})

it("the panel fits a terminal of any size, and at most 24 lines of 80 columns, whatever it says", () => {
  fc.assert(
    fc.property(view, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 100 }), (view, columns, rows) => {
      const lines = panel(view, { columns, rows })
      expect(lines.length).toBeLessThanOrEqual(Math.max(1, Math.min(24, rows) - 1))
      for (const { text } of lines) expect(text.length).toBeLessThanOrEqual(Math.min(80, columns))
    }),
  )
})

it("nothing that the panel shows moves the cursor or turns text around", () => {
  const quiet: View = {
    ...{ status: "running", isStopping: false, addresses: [], note: undefined, pull: [], progress: undefined },
    ...{ firstWebhook: undefined, incidents: ["api \u001b[2Jfailed\r\n\u202edrawkcab"] },
  }
  const [shown] = panel(quiet, { columns: 80, rows: 24 }).filter(({ style }) => style === "red")
  expect(shown?.text).toBe("api  [2Jfailed drawkcab")
})
