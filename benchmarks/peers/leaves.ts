import { cpus } from "node:os"
import { parseArgs } from "node:util"
import { bundleBytes } from "./leaves/bundleBytes.ts"
import type { Comparison } from "./leaves/Comparison.ts"
import { dependenciesOf, versionOf } from "./leaves/dependenciesOf.ts"
import { raceOperations } from "./leaves/raceOperations.ts"

// Compares each leaf library with its common alternatives: bytes, dependencies, features, operations per second.

const LEAVES = [
  "error-catalog",
  "cursor",
  "rate-limit",
  "retry-policy",
  "bot-suspicion",
  "signature",
  "webhook-verifier",
] as const

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    rounds: { type: "string", default: "15" },
    milliseconds: { type: "string", default: "50" },
  },
})

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]!.model}\n`)
for (const leaf of values.only ?? LEAVES) {
  const { comparison } = (await import(`./leaves/${leaf}.ts`)) as { readonly comparison: Comparison }
  const { candidates, features, counts = {} } = comparison
  console.log(`## ${leaf}\n`)
  row(
    "",
    candidates.map(({ name }) => name),
  )
  row(
    "---",
    candidates.map(() => "---:"),
  )
  row(
    "version",
    candidates.map(({ packageName = "@outreach" }) =>
      packageName.startsWith("@outreach") ? "–" : versionOf(packageName),
    ),
  )
  row(
    "bytes, minified and gzipped",
    await Promise.all(candidates.map(async ({ code }) => String(await bundleBytes(code)))),
  )
  row(
    "dependencies",
    candidates.map(({ packageName }) => String(packageName === undefined ? 0 : dependenciesOf(packageName))),
  )
  for (const feature of features)
    row(
      feature,
      candidates.map(({ has }) => (has.includes(feature) ? "✓" : "–")),
    )
  for (const [head, cells] of Object.entries(counts)) row(head, cells)
  for (const name of comparison.operations) {
    const results = await raceOperations(
      candidates.map(({ operations }) => operations[name]),
      { rounds: Number(values.rounds), milliseconds: Number(values.milliseconds) },
    )
    row(`${name}: operations/s`, results)
  }
  await comparison.close?.()
  console.log()
}

function row(head: string, cells: readonly string[]): void {
  console.log(`| ${[head, ...cells].join(" | ")} |`)
}
