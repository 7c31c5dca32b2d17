/**
 * Compares docs/conformance.yaml with the tests that ran, and with the specification: by a digest, and by sentence if the specification is
 * next to the checkout.
 *
 * `TEST_REPORT` lists vitest's JSON reports, separated by ":". Without it, this script runs the named test files.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { type ConformanceRow, conformanceRows } from "./conformance.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"
import { specificationSentences } from "./specificationSentences.ts"

const SPECIFICATION = join(root, "../shared/spec/partner-api.md")
/** SHA-256 of the specification's sentences with their headings, so that a missing row is found even without the specification. */
const SENTENCES = "6e9d07d293ea147400d301748f02e6dc61116a0e5ba68138c07bbce3d58929c2"

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

/** Runs test files with vitest, and returns its reports. Proofs have their own configuration. */
function runFiles(files: ReadonlyArray<string>): ReadonlyArray<TestReport> {
  const runs = [
    { config: "vitest.config.ts", files: files.filter((file) => file.endsWith(".test.ts")) },
    { config: "vitest.proofs.config.ts", files: files.filter((file) => file.endsWith(".proof.ts")) },
  ]
  const folder = mkdtempSync(join(tmpdir(), "conformance-"))
  try {
    return runs
      .filter(({ files }) => files.length > 0)
      .map(({ config, files }) => {
        const output = join(folder, `${config}.json`)
        const vitest = join(root, "node_modules/.bin/vitest")
        const args = ["run", `--config=${config}`, "--reporter=json", `--outputFile.json=${output}`, ...files]
        spawnSync(vitest, args, { cwd: root })
        return JSON.parse(readFileSync(output, "utf8"))
      })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the status of each test of a run, by its file and name. */
function statuses({ testResults }: TestReport): Statuses {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(
      ({ ancestorTitles, title, status }) =>
        [[relative(root, name), ...ancestorTitles, title].join(" › "), status] as const,
    ),
  )
}

// Not a map, because two tests may have the same name.
type Statuses = ReadonlyArray<readonly [name: string, status: string]>

/** Matches sentences with an open point. Their row must state or link the decision. */
const LEFT_OPEN = /not shown|a builder may choose/

/** Returns the violations of a row and its tests. The name of a group includes all of its tests. */
function rowViolations(row: ConformanceRow, ran: Statuses): ReadonlyArray<string> {
  const { sentence, note } = row
  const tests = namesOf(row)
  if (LEFT_OPEN.test(sentence) && (tests.length === 0 || !/\bSettled\b/.test(note))) {
    return [`names no decision ("Settled …") with a test for what the specification leaves open: ${sentence}`]
  }
  if (tests.length === 0 && !note.startsWith("No test:")) return [`names no test and does not say why: ${sentence}`]
  return tests.flatMap((test) => {
    const named = ran.filter(([name]) => name === test || name.startsWith(`${test} › `))
    if (named.length === 0) return [`names a test that did not run: ${test}`]
    return named
      .filter(([, status]) => status !== "passed")
      .map(([name, status]) => `names a test that ${status}: ${name}`)
  })
}

const namesOf = ({ tests }: ConformanceRow): ReadonlyArray<string> =>
  tests.flatMap(({ file, names }) => names.map((name) => `${file} › ${name}`))

/** Returns the differences between the data's sentences and the specification's. */
function differences(rows: ReadonlyArray<ConformanceRow>): ReadonlyArray<string> {
  const present = rows.map(({ heading, sentence }) => `${heading}: ${sentence}`)
  const digest = createHash("sha256").update(present.join("\n")).digest("hex")
  const same = digest === SENTENCES
  if (!existsSync(SPECIFICATION)) return same ? [] : ["lacks, adds or changes a sentence of the specification"]
  const passages = specificationSentences(readFileSync(SPECIFICATION, "utf8"))
  const wanted = passages.flatMap(({ heading, sentences }) => sentences.map((sentence) => `${heading}: ${sentence}`))
  const missing = wanted.filter((sentence) => !present.includes(sentence))
  const foreign = present.filter((sentence) => !wanted.includes(sentence))
  const violations = [
    ...missing.map((sentence) => `lacks a sentence of the specification, ${sentence}`),
    ...foreign.map((sentence) => `has a sentence that the specification lacks, ${sentence}`),
  ]
  if (violations.length > 0) return violations
  if (present.join("\n") !== wanted.join("\n")) return ["repeats or reorders sentences"]
  return same ? [] : [`matches the specification: set SENTENCES in ${import.meta.filename} to ${digest}`]
}

const rows = conformanceRows()
if (rows.length === 0) throw new Error("docs/conformance.yaml has no rows.")
const tests = new Set(rows.flatMap(namesOf))
const paths = process.env["TEST_REPORT"]?.split(":") ?? []
const reports: ReadonlyArray<TestReport> =
  paths.length > 0
    ? paths.map((path) => JSON.parse(readFileSync(path, "utf8")))
    : runFiles([...new Set(rows.flatMap((row) => row.tests.map(({ file }) => file)))])
const ran = reports.flatMap(statuses)
const violations = [...rows.flatMap((row) => rowViolations(row, ran)), ...differences(rows)]
const untested = rows.filter((row) => row.tests.length === 0).length
report(
  violations.map((violation) => `docs/conformance.yaml ${violation}`),
  `${rows.length} sentences, ${tests.size} tests or groups of tests, ${untested} sentences that no test can show`,
)
