import { execFile } from "node:child_process"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { alertRules } from "@outreach/testing/alertRules"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, describe, expect, it } from "vitest"

const deploy = fileURLToPath(new URL("../../../../deploy/", import.meta.url))
const prometheus = findProgram("prometheus")
const promtool = async (...args: ReadonlyArray<string>) => {
  if ("missing" in prometheus) throw new Error(prometheus.missing)
  const run = promisify(execFile)(join(prometheus.folder, "usr/bin/promtool"), args)
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error)
  return stdout + stderr
}

describe.skipIf("missing" in prometheus)("Prometheus", () => {
  const folder = temporaryFolder("alerts", afterAll)

  it("accepts the alert rules", async () => {
    writeFileSync(join(folder, "alerts.yml"), alertRules())
    expect(await promtool("check", "rules", join(folder, "alerts.yml"))).toMatch(/SUCCESS: \d+ rules found/)
  })

  it("lets each alert fire once for its cause, and none while all is well", async () => {
    copyFileSync(join(deploy, "alerts.test.yml"), join(folder, "alerts.test.yml"))
    expect(await promtool("test", "rules", join(folder, "alerts.test.yml"))).toMatch(/SUCCESS\s*$/)
  })

  it("accepts every expression of the dashboard", async () => {
    const { panels } = JSON.parse(readFileSync(join(deploy, "grafana-dashboard.json"), "utf8")) as {
      panels: ReadonlyArray<{ readonly targets?: ReadonlyArray<{ readonly expr: string }> }>
    }
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    const rules = expressions.map((expr, i) => ({
      record: `panel:${i}`,
      expr: expr.replaceAll("$__rate_interval", "5m"),
    }))
    const file = join(folder, "dashboard.yml")
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }))
    expect(await promtool("check", "rules", file)).toMatch(`SUCCESS: ${expressions.length} rules found`)
  })
})
