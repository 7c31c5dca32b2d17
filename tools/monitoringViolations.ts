import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ALERT_RULES } from "@outreach/domain/operators/alerts"
import { parser } from "@prometheus-io/lezer-promql"
import { parse } from "yaml"
import { anchorOf } from "./anchorOf.ts"
import { root } from "./publishedPackages.ts"

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels?: { readonly severity?: string }
  readonly annotations?: { readonly summary?: string; readonly runbook?: string }
}
interface RuleTest {
  readonly alert_rule_test: ReadonlyArray<{ readonly alertname: string; readonly exp_alerts?: ReadonlyArray<unknown> }>
}
interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}

const RULES = "deploy/alerts.yml"
const RULE_TESTS = "deploy/alerts.test.yml"
const DASHBOARD = "deploy/grafana-dashboard.json"
const RUNBOOK = "docs/operations.md"

const read = (path: string): string => readFileSync(join(root, path), "utf8")

/**
 * Lists what is wrong with the alerts and the dashboard of `deploy/`: expressions that PromQL does not parse or that name a metric which no process declares,
 * alerts without a section of the runbook or a test, sections without an alert, and alerts that the operator console knows otherwise.
 */
export function monitoringViolations(): readonly string[] {
  const { groups } = parse(read(RULES)) as { groups: ReadonlyArray<{ rules: readonly Alert[] }> }
  const { tests } = parse(read(RULE_TESTS)) as { tests: readonly RuleTest[] }
  const { panels } = JSON.parse(read(DASHBOARD)) as { panels: readonly Panel[] }
  const alerts = groups.flatMap(({ rules }) => rules)
  return [
    ...alerts.flatMap(alertViolations),
    ...repeated(alerts.map(({ alert }) => alert)).map((alert) => `${RULES} has two alerts ${alert}`),
    ...runbookViolations(alerts),
    ...testViolations(alerts, tests),
    ...consoleViolations(alerts),
    ...panelViolations(panels),
    ...promtoolViolations(),
  ]
}

/** The series that the processes export: a histogram has three, and a row of a table of gauges has one. `up` is Prometheus's own. */
const series = new Set([
  "up",
  ...globSync("{apps,packages}/*/src/**/*.ts", { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/\b(counter|gauge|histogram)\(\s*"(outreach_\w+)"|^ {2}(outreach_\w+): \[/gm)].flatMap(
      ([, type, name, row]) =>
        type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [(name ?? row)!],
    ),
  ),
])

/** Measured by prom-client. The test of `apps/sandbox/test/monitoring` compares all names and labels with what the processes export. */
const OF_THE_LIBRARY = /^(?:process|nodejs)_/

/** Lists what is wrong with an expression of PromQL. */
export function expressionViolations(where: string, expression: string): readonly string[] {
  // Grafana replaces its variables before Prometheus parses.
  const text = expression.replaceAll("$__rate_interval", "5m")
  const names: string[] = []
  let isValid = true
  parser.parse(text).iterate({
    enter: ({ type, name, from, to, node }) => {
      if (type.isError) isValid = false
      if (name === "Identifier" && node.parent?.name === "VectorSelector") names.push(text.slice(from, to))
    },
  })
  const unknown = names.filter((name) => !series.has(name) && !OF_THE_LIBRARY.test(name))
  return [
    ...(isValid ? [] : [`${where}: PromQL does not parse ${expression}`]),
    ...(names.length > 0 ? [] : [`${where}: the expression names no metric`]),
    ...unknown.map((name) => `${where} names the metric ${name}, which no process declares`),
  ]
}

function alertViolations({ alert, expr, labels, annotations, ...rule }: Alert): readonly string[] {
  const where = `${RULES}, ${alert}`
  const { summary = "", runbook = "" } = annotations ?? {}
  const queries = [...summary.matchAll(/query "([^"]+)"/g)].map(([, query]) => query!)
  return [
    ...[expr, ...queries].flatMap((each) => expressionViolations(where, each)),
    ...(/^(critical|warning)$/.test(labels?.severity ?? "") ? [] : [`${where}: the severity is critical or warning`]),
    ...(rule.for === undefined ? [`${where} has no \`for\``] : []),
    ...(summary === "" ? [`${where} has no summary`] : []),
    ...(runbook.startsWith(`${RUNBOOK}#`) ? [] : [`${where}: the runbook is not a section of ${RUNBOOK}`]),
  ]
}

/** The sections of the runbook, by their anchors. */
function runbookSections(): ReadonlyMap<string, string> {
  const [, chapter = ""] = /^## Alerts\n(.*?)^## /ms.exec(read(RUNBOOK)) ?? []
  const sections = chapter.split(/^### /m).slice(1)
  return new Map(sections.map((text) => [anchorOf(text.slice(0, text.indexOf("\n"))), text]))
}

function runbookViolations(alerts: readonly Alert[]): readonly string[] {
  const sections = runbookSections()
  const named = alerts.map(({ alert, labels, annotations }) => ({
    ...{ alert, severity: labels?.severity },
    anchor: annotations?.runbook?.split("#")[1] ?? "",
  }))
  const anchors = named.map(({ anchor }) => anchor)
  return [
    ...named.flatMap(({ alert, severity, anchor }) => {
      const text = sections.get(anchor)
      if (text === undefined) return [`${RULES}, ${alert}: ${RUNBOOK} has no section #${anchor} of alerts`]
      return text.includes(`\n\`${alert}\`, ${severity}: `)
        ? []
        : [`${RUNBOOK}#${anchor} does not begin with \`${alert}\`, ${severity}:`]
    }),
    ...[...sections.keys()]
      .filter((anchor) => !anchors.includes(anchor))
      .map((anchor) => `${RUNBOOK}#${anchor} belongs to no alert`),
    ...repeated(anchors).map((anchor) => `${RULES}: two alerts share ${RUNBOOK}#${anchor}`),
  ]
}

function testViolations(alerts: readonly Alert[], tests: readonly RuleTest[]): readonly string[] {
  const tested = tests.flatMap((test) => test.alert_rule_test)
  return alerts.flatMap(({ alert }) => {
    const expected = tested
      .filter(({ alertname }) => alertname === alert)
      .map(({ exp_alerts = [] }) => exp_alerts.length > 0)
    return [
      ...(expected.includes(true) ? [] : [`${RULE_TESTS} does not let ${alert} fire`]),
      ...(expected.includes(false) ? [] : [`${RULE_TESTS} does not show that ${alert} is silent while all is well`]),
    ]
  })
}

/** Compares the alerts that the operator console reads from the database with those of Prometheus. */
function consoleViolations(alerts: readonly Alert[]): readonly string[] {
  return ALERT_RULES.flatMap(({ name, severity, threshold, delay, section }) => {
    const alert = alerts.find(({ alert }) => alert === name)
    if (alert === undefined) return [`${RULES} has no alert ${name}, which the operator console has`]
    // That a series is absent is a comparison of its own.
    const limit = alert.expr.startsWith("absent(") ? 0 : Number(/> *([\d.e]+)$/.exec(alert.expr.trim())?.[1])
    const theirs = [alert.labels?.severity, limit, alert.for, alert.annotations?.runbook]
    const ours = [severity, threshold, delay, `${RUNBOOK}#${section}`]
    return String(theirs) === String(ours) ? [] : [`${RULES}, ${name}: the operator console has ${ours}, not ${theirs}`]
  })
}

function panelViolations(panels: readonly Panel[]): readonly string[] {
  return [
    ...repeated(panels.map(({ id }) => id)).map((id) => `${DASHBOARD} has two panels with the id ${id}`),
    ...panels.flatMap(({ type, title, targets = [] }) => {
      const where = `${DASHBOARD}, ${title}`
      if (type === "row") return []
      if (targets.length === 0) return [`${where} has no expression`]
      return targets.flatMap(({ expr }) => expressionViolations(where, expr))
    }),
    ...panels.flatMap((one, i) =>
      panels
        .slice(i + 1)
        .flatMap((other) => (overlap(one, other) ? [`${DASHBOARD}: ${one.title} covers ${other.title}`] : [])),
    ),
  ]
}

const overlap = ({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

/** Has Prometheus's own tool check the rules and run their tests, where it is installed. */
function promtoolViolations(): readonly string[] {
  const runs = [
    ["check", "rules", join(root, RULES)],
    ["test", "rules", join(root, RULE_TESTS)],
  ].map((args) => spawnSync("promtool", args, { encoding: "utf8" }))
  return runs.flatMap(({ status, stdout, stderr }) =>
    status === 0 || status === null ? [] : [`promtool: ${stdout}${stderr}`],
  )
}

const repeated = <A>(values: readonly A[]): readonly A[] => values.filter((value, i) => values.indexOf(value) !== i)
