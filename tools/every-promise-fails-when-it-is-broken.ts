/**
 * Applies `seededViolations` to a copy of the repository and runs the scripts there: each must fail and name the change.
 *
 * Arguments name the scripts. By default the fast scripts run, with `--all` every script.
 */
import { execFile, execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { copyRepository } from "./copyRepository.ts"
import { report } from "./report.ts"
import { SEEDED_VIOLATIONS, type SeededViolation } from "./seededViolations.ts"

const CONCURRENCY = 3
const { positionals, values } = parseArgs({ allowPositionals: true, options: { all: { type: "boolean" } } })

/** Applies the change of a script. Returns the parts that can't be applied. */
function seed(copy: string, { replace = [], append = {} }: SeededViolation): readonly string[] {
  const faults: string[] = []
  for (const [file, before, after] of replace) {
    const text = existsSync(join(copy, file)) ? readFileSync(join(copy, file), "utf8") : ""
    if (!text.includes(before)) faults.push(`${file} has no ${JSON.stringify(before)}, which is to be replaced`)
    else
      writeFileSync(
        join(copy, file),
        text.replace(before, () => after),
      )
  }
  for (const [file, added] of Object.entries(append)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), added, { flag: "a" })
  }
  return faults
}

/** Runs a script in the copy. Returns the expected output that is missing. */
async function silence(
  copy: string,
  script: string,
  { args = [], env, says }: SeededViolation,
): Promise<readonly string[]> {
  const [code, output] = await new Promise<readonly [unknown, string]>((resolve) => {
    const options = {
      cwd: copy,
      env: { ...process.env, TEST_REPORT: "", ...env },
      timeout: 900_000,
      maxBuffer: 2 ** 26,
    }
    execFile(process.execPath, [join(copy, "tools", `${script}.ts`), ...args], options, (error, stdout, stderr) =>
      resolve([error === null ? 0 : error.code, stdout + stderr]),
    )
  })
  if (code === 0) return [`passes although it is broken: ${output}`]
  return says.filter((each) => !each.test(output)).map((each) => `does not say ${each}: ${output.slice(-2000)}`)
}

const scripts = globSync("*-*.ts", { cwd: import.meta.dirname }).map((file) => file.slice(0, -3))
const violations = Object.keys(SEEDED_VIOLATIONS)
  .filter((script) => !scripts.includes(script))
  .map((script) => `${script} is not a script`)
const chosen = Object.entries(SEEDED_VIOLATIONS).filter(([script, { isSlow = false }]) =>
  positionals.length > 0 ? positionals.includes(script) : values.all || !isSlow,
)
const copy = mkdtempSync(join(tmpdir(), "outreach-broken-"))
try {
  copyRepository(copy)
  for (const [script, violation] of Object.entries(SEEDED_VIOLATIONS))
    violations.push(...seed(copy, violation).map((fault) => `${script}: ${fault}`))
  // Some scripts read only tracked files.
  execFileSync("git", ["add", "-A"], { cwd: copy })
  const waiting = [...chosen]
  const run = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [script, violation] = next
      violations.push(...(await silence(copy, script, violation)).map((fault) => `${script} ${fault}`))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, run))
} finally {
  rmSync(copy, { recursive: true, force: true, maxRetries: 10 })
}
report(violations, `${chosen.length} of ${scripts.length} promises were broken`)
