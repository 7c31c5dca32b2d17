/**
 * Checks the files of `deploy/`: the compose file parses, every setting that they name is one of docs/settings.md, and the units
 * are valid. `unitViolations` checks these, `kubernetesViolations` the manifests, and `monitoringViolations` the alerts and the dashboard.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { kubernetesViolations } from "./kubernetesViolations.ts"
import { monitoringViolations } from "./monitoringViolations.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"
import { unitViolations } from "./unitViolations.ts"

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const compose = parse(read("deploy/compose.yaml"), { merge: true }) as {
  services: Record<string, { environment?: Record<string, string> }>
}
const kubernetes = await kubernetesViolations()
const violations = [...kubernetes.violations]

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
violations.push(...unitViolations(), ...monitoringViolations())
report(violations, `${kubernetes.count} objects of Kubernetes, ${new Set(named).size} settings`)
