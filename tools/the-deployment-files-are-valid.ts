/**
 * Checks the files of `deploy/`: each object of the Kubernetes manifest is valid and has no unknown field, the compose file parses, every setting that
 * they name is one of docs/settings.md, and systemd verifies the units, where it is installed. Alerts and dashboard are checked by `monitoringViolations`.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse, parseAllDocuments } from "yaml"
import { monitoringViolations } from "./monitoringViolations.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}
type Model = new (object: unknown) => { validate(): void }

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const manifest = parseAllDocuments(read("deploy/kubernetes.yaml")).map((it) => it.toJS() as KubernetesObject)
const compose = parse(read("deploy/compose.yaml"), { merge: true }) as {
  services: Record<string, { environment?: Record<string, string> }>
}
const violations: string[] = []

for (const object of manifest) {
  const models = (await import(`kubernetes-models/${object.apiVersion}`)) as Record<string, Model>
  try {
    new models[object.kind]!(object).validate()
  } catch (error) {
    violations.push(`kubernetes.yaml, ${object.kind} ${object.metadata.name}: ${(error as Error).message}`)
  }
}

// The validators accept unknown fields; the types do not.
const typed = join(import.meta.dirname, "node_modules/.manifest")
const tempDir = mkdtempSync(join(tmpdir(), "outreach-units-"))
try {
  mkdirSync(typed, { recursive: true })
  const source = manifest.map(({ apiVersion, kind, ...rest }, i) => {
    const object = JSON.stringify({ apiVersion, kind, ...rest }, null, 2)
    return `import type { I${kind} as T${i} } from "kubernetes-models/${apiVersion}"\nexport const it${i}: T${i} = ${object}\n`
  })
  writeFileSync(join(typed, "manifest.ts"), source.join("\n"))
  const compilerOptions = { types: [], skipLibCheck: true }
  writeFileSync(
    join(typed, "tsconfig.json"),
    JSON.stringify({ extends: "../../../tsconfig.base.json", compilerOptions, files: ["manifest.ts"] }),
  )
  const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", typed], { encoding: "utf8" })
  if (tsc.status !== 0) violations.push(`kubernetes.yaml has a field that its type does not know:\n${tsc.stdout}`)

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
  rmSync(typed, { recursive: true, force: true })
  rmSync(tempDir, { recursive: true, force: true })
}

const known = new Set([...read("docs/settings.md").matchAll(/^\| `(\w+)`/gm)].map(([, setting]) => setting))
const inManifest = [...read("deploy/kubernetes.yaml").matchAll(/^ {2}([A-Z_]+): |- \{ name: ([A-Z_]+),/gm)]
const named = [
  ...inManifest.map(([, ofMap, ofContainer]) => ofMap ?? ofContainer),
  ...["api", "worker", "console", "migrate"].flatMap((service) =>
    Object.keys(compose.services[service]?.environment ?? {}),
  ),
]
if (known.size === 0 || named.length === 0) violations.push("No setting was found")
for (const setting of new Set(named)) {
  if (!known.has(setting)) violations.push(`deploy/ names the setting ${setting}, which docs/settings.md does not know`)
}
violations.push(...monitoringViolations())
report(violations, `${manifest.length} objects, ${new Set(named).size} settings`)
