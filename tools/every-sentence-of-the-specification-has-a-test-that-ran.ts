/**
 * Compares docs/conformance.md with the tests that ran, and with the specification where it lies beside the checkout.
 *
 * The run is a JSON report of vitest at `TEST_REPORT`; without one, the named test files are run here.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { type ConformanceRow, conformanceRows } from "./conformanceRows.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"
import { specificationSentences } from "./specificationSentences.ts"

const PAGE = join(root, "docs/conformance.md")
const SPECIFICATION = join(root, "../shared/spec/partner-api.md")

interface TestReport {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly assertionResults: ReadonlyArray<{
      readonly ancestorTitles: ReadonlyArray<string>
      readonly title: string
      readonly status: string
    }>
  }>
}

/** Runs test files and answers vitest's report. */
function runOf(files: ReadonlyArray<string>): TestReport {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"))
  try {
    const output = join(folder, "tests.json")
    const vitest = join(root, "node_modules/.bin/vitest")
    spawnSync(vitest, ["run", "--reporter=json", `--outputFile.json=${output}`, ...files], { cwd: root })
    return JSON.parse(readFileSync(output, "utf8"))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The status of each test of a run, by its file, groups and title as the page writes them. */
function statuses({ testResults }: TestReport): Statuses {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(
      ({ ancestorTitles, title, status }) =>
        [[relative(root, name), ...ancestorTitles, title].join(" › "), status] as const,
    ),
  )
}

// No map, since two tests may have one name.
type Statuses = ReadonlyArray<readonly [name: string, status: string]>

/** Says what is wrong with the tests that a row names; a name may be a group's, and then means all of its tests. */
function untested({ sentence, tests, words }: ConformanceRow, ran: Statuses): ReadonlyArray<string> {
  if (tests.length === 0 && !words.startsWith("No test:")) return [`names no test and does not say why: ${sentence}`]
  return tests.flatMap((test) => {
    const named = ran.filter(([name]) => name === test || name.startsWith(`${test} › `))
    if (named.length === 0) return [`names a test that did not run: ${test}`]
    return named
      .filter(([, status]) => status !== "passed")
      .map(([name, status]) => `names a test that ${status}: ${name}`)
  })
}

/** Says where the page's sentences are not the specification's, heading by heading. */
function differences(rows: ReadonlyArray<ConformanceRow>): ReadonlyArray<string> {
  const passages = specificationSentences(readFileSync(SPECIFICATION, "utf8"))
  const wanted = passages.flatMap(({ heading, sentences }) => sentences.map((sentence) => `${heading}: ${sentence}`))
  const there = rows.map(({ heading, sentence }) => `${heading}: ${sentence}`)
  const missing = wanted.filter((sentence) => !there.includes(sentence))
  const foreign = there.filter((sentence) => !wanted.includes(sentence))
  const breaches = [
    ...missing.map((sentence) => `lacks a sentence of the specification, ${sentence}`),
    ...foreign.map((sentence) => `has a sentence that the specification lacks, ${sentence}`),
  ]
  if (breaches.length === 0 && there.join("\n") !== wanted.join("\n")) return ["repeats or reorders sentences"]
  return breaches
}

const rows = conformanceRows(readFileSync(PAGE, "utf8"))
if (rows.length === 0) throw new Error("docs/conformance.md has no rows.")
const tests = new Set(rows.flatMap((row) => row.tests))
const path = process.env["TEST_REPORT"]
const run: TestReport = path
  ? JSON.parse(readFileSync(path, "utf8"))
  : runOf([...new Set([...tests].map((test) => test.split(" › ")[0]!))])
const ran = statuses(run)
const breaches = [...rows.flatMap((row) => untested(row, ran)), ...(existsSync(SPECIFICATION) ? differences(rows) : [])]
const silent = rows.filter((row) => row.tests.length === 0).length
report(
  breaches.map((breach) => `docs/conformance.md ${breach}`),
  `${rows.length} sentences, ${tests.size} tests or groups of tests, ${silent} sentences that no test can show`,
)
