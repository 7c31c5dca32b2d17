import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { alertRules } from "@outreach/testing/alertRules"
import { type AtEnd, startProgram } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { ADMIN_PORTS } from "./startUnits.ts"

const RULES = alertRules()

/** Each alert rule: its `for`, and its section of the page. */
export const ALERTS: ReadonlyMap<string, { readonly lasts: string; readonly section: string }> = new Map(
  [...RULES.matchAll(/- alert: (\w+).*?\n +for: (\w+).*?runbook: docs\/on-call\.md(#\S+)/gs)].map(
    ([, name, lasts, section]) => [name!, { lasts: lasts!, section: section! }] as const,
  ),
)

/**
 * Starts Debian's Prometheus with the alert rules. It scrapes every two seconds, and alerts are active as soon as their expression is true:
 * the table adds the `for`.
 */
export const startPrometheus = async (
  { unpacked, folder, host }: { readonly unpacked: string; readonly folder: string; readonly host: string },
  atEnd: AtEnd,
) => {
  await writeFile(join(folder, "alerts.yml"), RULES.replaceAll(/^( +for:) \w+$/gm, "$1 0s"))
  const jobs = (["api", "worker"] as const).map((unit) => ({
    job_name: `outreach-${unit}`,
    static_configs: [{ targets: [`${host}:${ADMIN_PORTS[unit]}`] }],
  }))
  const config = {
    global: { scrape_interval: "2s", scrape_timeout: "2s", evaluation_interval: "1s" },
    rule_files: ["alerts.yml"],
    scrape_configs: jobs,
  }
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config))
  const address = `${host}:9090`
  const files = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/tsdb`]
  const args = [...files, `--web.listen-address=${address}`]
  const prometheus = startProgram(join(unpacked, "usr/bin/prometheus"), args, {}, atEnd)
  await until(prometheus, ({ errors }) => errors.includes("Server is ready to receive web requests"))
  const alerts = async (): Promise<ReadonlyMap<string, number>> => {
    const response = await fetch(`http://${address}/api/v1/alerts`)
    const { data } = (await response.json()) as {
      data: { alerts: ReadonlyArray<{ labels: { alertname: string }; activeAt: string }> }
    }
    const since = new Map<string, number>()
    for (const { labels, activeAt } of data.alerts) {
      const at = Date.parse(activeAt)
      since.set(labels.alertname, Math.min(at, since.get(labels.alertname) ?? at))
    }
    return since
  }
  /** Active alerts with their start in Unix milliseconds: for several jobs, the first. */
  return { alerts }
}
