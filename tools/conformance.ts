import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { root } from "./publishedPackages.ts"

/** A sentence of the specification, and what shows that it holds. */
export interface ConformanceRow {
  readonly heading: string
  readonly sentence: string
  /** The groups and titles of tests, joined by " › ", by their file. A group stands for all of its tests. */
  readonly tests: ReadonlyArray<{ readonly file: string; readonly names: ReadonlyArray<string> }>
  /** Says how something open was settled, or why there is no test. */
  readonly note: string
}

interface Entry {
  readonly sentence: string
  readonly tests?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly note?: string
}

/** Reads docs/conformance.yaml. */
export function conformanceRows(): ReadonlyArray<ConformanceRow> {
  const text = readFileSync(join(root, "docs/conformance.yaml"), "utf8")
  const sections: Readonly<Record<string, ReadonlyArray<Entry>>> = parse(text)
  return Object.entries(sections).flatMap(([heading, entries]) =>
    entries.map(({ sentence, tests = {}, note = "" }) => ({
      heading,
      sentence,
      tests: Object.entries(tests).map(([file, names]) => ({ file, names: [names].flat() })),
      note,
    })),
  )
}

const INTRODUCTION = `# Conformance

Each sentence of the specification stands here word for word, with the tests that show it. A row of a table counts as a sentence; " · " joins its
cells. A name of a test is its groups and its title. The name of a group stands for all of its tests.

Most tests ask the deployed processes over HTTP and SMTP, with a real PostgreSQL. Where no process can be asked, a test of the package that decides is
named. Where the specification leaves something open, the row says how it was settled. A row also says what is not served yet.

\`node tools/every-sentence-of-the-specification-has-a-test-that-ran.ts\` fails when a named test did not run or did not pass. It also fails when a
sentence of the specification is missing or differs. If the specification lies beside the checkout, the tool names the sentence.
`

/** Returns docs/conformance.md: a table for each heading of the specification. */
export function conformancePage(): string {
  const rows = conformanceRows()
  const headings = [...new Set(rows.map(({ heading }) => heading))]
  const sections = headings.map((each) =>
    sectionOf(
      each,
      rows.filter(({ heading }) => heading === each),
    ),
  )
  return [INTRODUCTION, ...sections].join("\n")
}

const sectionOf = (heading: string, rows: ReadonlyArray<ConformanceRow>): string =>
  [
    `## ${heading}\n`,
    "| sentence | shown by |",
    "| --- | --- |",
    ...rows.map(({ sentence, tests, note }) => {
      const files = tests.map(({ file, names }) => `${linkTo(file)}: ${names.map(plain).join("; ")}`)
      return `| ${markdown(sentence)} | ${[...files, ...(note === "" ? [] : [markdown(note)])].join("<br>")} |`
    }),
    "",
  ].join("\n")

/** Links to a test file, by the shortest path that still names its package. */
const linkTo = (file: string): string =>
  `[${file.replace(/^(?:apps|packages)\//, "").replace("/test/", "/")}](../${file})`

/** Escapes a test's name, in which nothing is Markdown. */
const plain = (name: string): string => name.replaceAll(/[|<*_`]/g, "\\$&")

/** Escapes a sentence of the specification or a note, both of which are Markdown, for the cell of a table. */
const markdown = (text: string): string =>
  text
    .replaceAll("|", "\\|")
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 === 1 ? part : part.replaceAll("<", "\\<")))
    .join("")
