/**
 * Finds variables, empty collections and registries at the top level of modules. A test that runs in the same process would see the settings,
 * counters and cached rows of another test. State belongs to a service with a scope, or to the function that uses it.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

/** Scripts of pages: each page is one instance. */
const IN_PAGES = /\/src\/(docs\/)?browser\//

/** Memo tables with constant values. */
const MEMOS = ["packages/postgres-connection/src/timestampCodec.ts: dates"]

/** Biome formats the code, so a top-level statement starts a line. */
const STATE = [
  /^(?:export )?let (\w+)/,
  /^(?:export )?const (\w+)(?:: [^=]+)? = (?:\[\]|\{\})/,
  /^(?:export )?const (\w+)(?:: (?!Readonly).+?)? = new (?:Map|WeakMap|Set|WeakSet|Array|Registry)(?:<.*>)?\(\)/,
  /^ {2}static (?!readonly )(?:accessor )?(\w+)(?:: [^=]+)? = /,
  /^ {2}static readonly (\w+)(?:: .+?)? = new (?:Map|WeakMap|Set|WeakSet)(?:<.*>)?\(\)/,
]

const files = globSync("{apps,packages,packages/test-support}/*/src/**/*.{ts,tsx,js}", { cwd: root }).filter(
  (file) => !IN_PAGES.test(file),
)
if (files.length === 0) throw new Error("There are no sources.")
const found = files.flatMap((file) =>
  readFileSync(join(root, file), "utf8")
    .split("\n")
    .flatMap((line) => STATE.flatMap((pattern) => pattern.exec(line)?.[1] ?? []))
    .map((name) => `${file}: ${name}`),
)
report(
  [
    ...found
      .filter((each) => !MEMOS.includes(each))
      .map(
        (each) =>
          `${each} is mutable state of a module. Create it in a service with a scope, or in the function that uses it.`,
      ),
    ...MEMOS.filter((memo) => !found.includes(memo)).map(
      (memo) => `${memo} doesn't exist any more: remove it from MEMOS.`,
    ),
  ],
  `${files.length} modules`,
)
