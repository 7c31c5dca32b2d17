/** Measures what contributors have to read and operators have to know, and compares it with `.ci/budget.json`, whose numbers are only ever lowered. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "./listFiles.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const files = listFiles()
const count = (pattern: RegExp, ...paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + (read(path).match(pattern)?.length ?? 0), 0)
const linesIn = (folder: RegExp): number =>
  count(/\n/g, ...files.filter((path) => folder.test(path) && /\.(?:ts|tsx|sql|js)$/.test(path)))

const measured: Readonly<Record<string, number>> = {
  source_lines: linesIn(/^(?:apps\/[^/]+\/src|packages\/.+\/(?:src|sql))\//),
  test_lines: linesIn(/^(?:(?:apps|packages)\/.+|examples)\/test\//),
  tables: count(/^create table/gm, "packages/postgres/schema.sql"),
  sql_functions: files.filter((path) => /^packages\/postgres\/sql\/functions\/.*\.sql$/.test(path)).length,
  commands: count(/^## /gm, "apps/ops/commands.md"),
  settings: count(/^\| `[A-Z_]+`/gm, "docs/settings.md"),
  decisions: files.filter((path) => /^docs\/decisions\/\d.*\.md$/.test(path)).length,
  words_of_markdown: count(/\S+/g, ...files.filter((path) => path.endsWith(".md") && !path.includes("CHANGELOG"))),
}

const budget = JSON.parse(read(".ci/budget.json")) as Readonly<Record<string, number>>
const names = [...new Set([...Object.keys(measured), ...Object.keys(budget)])]
report(
  names.flatMap((name) => {
    const [is, limit] = [measured[name], budget[name]]
    if (is === undefined || limit === undefined) return [`.ci/budget.json and this script disagree about ${name}`]
    if (is === 0) return [`${name}: nothing was found`]
    return is > limit
      ? [`${name}: ${is}, and .ci/budget.json allows ${limit}. Remove something that nobody needs.`]
      : []
  }),
  names.map((name) => `${name} ${measured[name]} of ${budget[name]}`).join(", "),
)
