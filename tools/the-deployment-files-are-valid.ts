/**
 * Checks the files of `deploy/`: the compose file parses, every setting that they name is one of docs/settings.md, and systemd verifies the units, where
 * it is installed. `kubernetesViolations` checks the manifests, and `monitoringViolations` the alerts and the dashboard.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { kubernetesViolations } from "./kubernetesViolations.ts"
import { monitoringViolations } from "./monitoringViolations.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const compose = parse(read("deploy/compose.yaml"), { merge: true }) as {
  services: Record<string, { environment?: Record<string, string> }>
}
const kubernetes = await kubernetesViolations()
const violations = [...kubernetes.violations]

const tempDir = mkdtempSync(join(tmpdir(), "outreach-units-"))
try {
  // A template is verified by the name of an instance.
  for (const unit of globSync("*.service", { cwd: join(root, "deploy/systemd") })) {
    copyFileSync(join(root, "deploy/systemd", unit), join(tempDir, unit.replace("@.", "@api.")))
  }
  const units = globSync("*.service", { cwd: tempDir }).map((unit) => join(tempDir, unit))
  const systemd = spawnSync("systemd-analyze", ["verify", ...units], { encoding: "utf8" })
  // It warns about a value that it ignores, and also about what the machine lacks. A line of a unit begins with its path.
  const warnings = (systemd.stderr ?? "").split("\n").filter((line) => line.startsWith(tempDir))
  violations.push(...warnings.map((warning) => `systemd: ${warning.slice(tempDir.length + 1)}`))
} finally {
  rmSync(tempDir, { recursive: true, force: true })
}

const known = new Set([...read("docs/settings.md").matchAll(/^\| `(\w+)`/gm)].map(([, setting]) => setting))
const named = [
  ...kubernetes.settings,
  ...["api", "worker", "console", "migrate"].flatMap((service) =>
    Object.keys(compose.services[service]?.environment ?? {}),
  ),
]
if (known.size === 0 || named.length === 0) violations.push("No setting was found")
for (const setting of new Set(named)) {
  if (!known.has(setting)) violations.push(`deploy/ names the setting ${setting}, which docs/settings.md does not know`)
}
violations.push(...monitoringViolations())
report(violations, `${kubernetes.count} objects of Kubernetes, ${new Set(named).size} settings`)
