import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { buildArtifact, REPOSITORY } from "../artifact.ts"
import { GROUPS } from "./groups.ts"
import { formatTable, PAGE, withTable } from "./onCallTable.ts"
import { runGroups } from "./runGroups.ts"

const { values } = parseArgs({
  options: { only: { type: "string", multiple: true }, write: { type: "boolean", default: false } },
})
const names = GROUPS.flatMap(({ faults }) => faults.map(({ name }) => name))
const unknown = values.only?.find((name) => !names.includes(name))
if (unknown !== undefined) throw new Error(`--only must be one of ${names.join(", ")}`)

const folder = mkdtempSync(join(tmpdir(), "outreach-oncall-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
// What a run mounts and starts ends with it, however that ends.
process.setMaxListeners(0)
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130))
const began = performance.now()
await buildArtifact(folder)
const { measured, problems } = await runGroups({
  artifact: join(folder, "out"),
  isWanted: ({ name }) => values.only?.includes(name) ?? true,
  log: (line) => console.log(`${Math.round((performance.now() - began) / 1000)} s: ${line}`),
})

const path = join(REPOSITORY, PAGE)
const page = readFileSync(path, "utf8")
const table = formatTable(GROUPS, measured, page)
console.log(`\n${table}\n`)
for (const problem of problems) console.log(`FAILED: ${problem}`)
if (values.write) writeFileSync(path, withTable(page, table))
console.log(
  `${measured.size} of ${names.length} faults were seen and mended in ${Math.round((performance.now() - began) / 1000)} s`,
)
if (problems.length > 0) process.exitCode = 1
process.exit()
