import { parser } from "@prometheus-io/lezer-promql"
import type { Scrape } from "./scrape.ts"

/** Labels added by Prometheus. */
const OF_PROMETHEUS = new Set(["job", "instance"])

/** Returns the metrics and labels of a PromQL expression that no process exports. */
export const expressionFaults = (expression: string, scrape: Scrape): ReadonlyArray<string> => {
  // Grafana replaces its variables before Prometheus parses.
  const text = expression.replaceAll("$__rate_interval", "5m")
  const faults: Array<string> = []
  parser.parse(text).iterate({
    enter: ({ name, type, node }) => {
      if (type.isError) faults.push(`PromQL does not parse ${text}`)
      if (name !== "VectorSelector") return
      const read = (each: { readonly from: number; readonly to: number }) => text.slice(each.from, each.to)
      const metric = read(node.getChild("Identifier")!)
      if (metric === "up") return
      const series = scrape.get(metric)
      if (series === undefined) {
        faults.push(`no process exports ${metric}`)
        return
      }
      const matchers = (node.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? []).map((matcher) => ({
        label: read(matcher.getChild("LabelName")!),
        pattern: new RegExp(`^(?:${read(matcher.getChild("StringLiteral")!).slice(1, -1)})$`),
      }))
      const grouping: Array<string> = []
      for (let around = node.parent; around !== null; around = around.parent) {
        const labels =
          around.name === "AggregateExpr" ? around.getChild("AggregateModifier")?.getChild("GroupingLabels") : null
        grouping.push(...(labels?.getChildren("LabelName") ?? []).map(read))
      }
      for (const label of [...grouping, ...matchers.map((matcher) => matcher.label)]) {
        if (!OF_PROMETHEUS.has(label) && !series.some((labels) => label in labels)) {
          faults.push(`${metric} has no label ${label}`)
        }
      }
      for (const { label, pattern } of matchers) {
        // A test journey has no failures, so error statuses are missing.
        if (OF_PROMETHEUS.has(label) || label === "status") continue
        if (!series.some((labels) => pattern.test(labels[label] ?? ""))) {
          faults.push(`no series of ${metric} has ${label} like ${pattern.source}`)
        }
      }
    },
  })
  return faults
}
