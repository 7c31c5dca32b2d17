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
