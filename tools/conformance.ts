import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { root } from "./publishedPackages.ts"

/** A sentence of the specification with the tests that prove it. */
export interface ConformanceRow {
  readonly heading: string
  readonly sentence: string
  /** Groups and titles of tests, joined by " › ", by file. A group includes all of its tests. */
  readonly tests: ReadonlyArray<{ readonly file: string; readonly names: ReadonlyArray<string> }>
  /** The decision on an open point, or the reason for a missing test. */
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
