import { expect, it } from "vitest"
import { expressionFaults } from "./expressionFaults.ts"
import { parseScrape } from "./scrape.ts"

const scrape = parseScrape(`# TYPE sent counter
sent{outcome="accepted"} 3
sent{outcome="bounced"} 0
took_bucket{le="+Inf"} 3
due 1
`)

it.each([
  ['sum by (outcome) (rate(sent[$__rate_interval])) / on () group_left sum(up{job="x"})', []],
  ["histogram_quantile(0.5, sum by (le) (rate(took_bucket[5m])))", []],
  ["max(taken)", ["no process exports taken"]],
  ["sum by (reason) (sent)", ["sent has no label reason"]],
  ['sent{reason="x"}', ["sent has no label reason", "no series of sent has reason like ^(?:x)$"]],
  ['sent{outcome=~"refused|late"}', ["no series of sent has outcome like ^(?:refused|late)$"]],
  ['sent{outcome=~"refused|bounced"}', []],
  ["sum(due", ["PromQL does not parse sum(due"]],
])("finds what is wrong with %s", (expression, faults) => {
  expect(expressionFaults(expression, scrape)).toEqual(faults)
})
