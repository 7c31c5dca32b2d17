import { spawnSync } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { credentialOf, secretsOf } from "@outreach/ops/doctor/processSettings"
import { root } from "./publishedPackages.ts"

const UNITS = join(root, "deploy/systemd")
const PROCESSES = ["api", "worker", "console", "migrate"] as const

/** Lets systemd verify the units, where it is installed, and compares the secrets that they load with those that their processes read. */
export function unitViolations(): ReadonlyArray<string> {
  return [...verify(), ...PROCESSES.flatMap(credentialViolations)]
}

function verify(): ReadonlyArray<string> {
  const tempDir = mkdtempSync(join(tmpdir(), "outreach-units-"))
  try {
    cpSync(UNITS, tempDir, { recursive: true })
    // A template is verified by the names of its instances.
    for (const name of PROCESSES.slice(0, 3))
      cpSync(join(UNITS, "outreach@.service"), join(tempDir, `outreach@${name}.service`))
    rmSync(join(tempDir, "outreach@.service"))
    const units = globSync("*.service", { cwd: tempDir }).map((unit) => join(tempDir, unit))
    const { stderr } = spawnSync("systemd-analyze", ["verify", ...units], { encoding: "utf8" })
    // It warns about a value that it ignores, and also about what the machine lacks. A line of a unit begins with its path.
    const warnings = (stderr ?? "").split("\n").filter((line) => line.startsWith(tempDir))
    return warnings.map((warning) => `systemd: ${warning.slice(tempDir.length + 1)}`)
  } finally {
    rmSync(tempDir, { recursive: true, force: true })
  }
}

function credentialViolations(name: (typeof PROCESSES)[number]): ReadonlyArray<string> {
  const files = name === "migrate" ? "outreach-migrate.service" : `{outreach@.service,outreach@${name}.service.d/*}`
  const text = globSync(files, { cwd: UNITS })
    .map((file) => readFileSync(join(UNITS, file), "utf8"))
    .join("\n")
    .replaceAll("%i", name)
  const loaded = [...text.matchAll(/^LoadCredential=(\w+):(.+)$/gm)].map(([, id, path]) => `${id} from ${path}`)
  const named = [...text.matchAll(/\b(\w+)_FILE=%d\/(\w+)/g)].map(([, setting, id]) => `${setting} in ${id}`)
  const secrets = secretsOf(name)
  return [
    ...missing(
      secrets.map((setting) => `${setting} in ${setting.toLowerCase()}`),
      named,
    ),
    ...missing(
      named,
      secrets.map((setting) => `${setting} in ${setting.toLowerCase()}`),
    ),
    ...missing(
      secrets.map(
        (setting) => `${setting.toLowerCase()} from /etc/outreach/credentials/${credentialOf(name, setting)}`,
      ),
      loaded,
    ),
  ].map((what) => `systemd: the units of ${name} and its settings do not agree on ${what}`)
}

const missing = (wanted: ReadonlyArray<string>, given: ReadonlyArray<string>): ReadonlyArray<string> =>
  wanted.filter((each) => !given.includes(each))
