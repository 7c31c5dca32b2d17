/**
 * Finds statements that may exceed their limit: they lock, update or delete rows from a subselect with a limit.
 *
 * PostgreSQL can repeat a subselect for each outer row, and each run skips the rows that the run before changed. A materialized
 * `with` runs once: `with chosen as materialized (select … limit … for update) update … from chosen`.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

interface Group {
  /** The words before the opening parenthesis. */
  readonly opener: string
  readonly parent: Group | undefined
  words: string
  limitAt: number | undefined
}

const isMaterialized = (group: Group | undefined): boolean =>
  group !== undefined && (/\bas materialized $/.test(group.opener) || isMaterialized(group.parent))

/** Returns the positions of limits that a statement may apply more than once. */
const loseLimits = (statement: string): readonly number[] => {
  const changes = /\b(delete from|update)\s/.test(statement.replace(/\bfor (no key )?update\b|\bdo update\b/g, ""))
  const positions: number[] = []
  let group: Group = { opener: "", parent: undefined, words: "", limitAt: undefined }
  for (const { 0: token, index } of statement.matchAll(/[()]|\w+/g)) {
    if (token === "(") {
      group = { opener: group.words, parent: group, words: "", limitAt: undefined }
    } else if (token === ")") {
      const locks = /\bfor (no key )?(update|share)\b|\bfor key share\b/.test(group.words)
      const isSource = /\b(in|from|using|join|array|any) $/.test(group.opener)
      if (group.limitAt !== undefined && (locks || (changes && isSource)) && !isMaterialized(group)) {
        positions.push(group.limitAt)
      }
      group = group.parent ?? group
    } else {
      if (token === "limit") group.limitAt = index
      group.words += `${token} `
    }
  }
  return positions
}

/** Blanks comments and quoted text. Every character keeps its position. */
const withoutText = (sql: string): string =>
  sql.replace(/--.*|'[^']*'/g, (text) => text.replace(/[^\n]/g, " ")).toLowerCase()

/** Returns the lines of a text with a limit that may not work. */
const limitLines = (text: string): readonly number[] => {
  let before = 0
  return withoutText(text)
    .split(";")
    .flatMap((statement) => {
      const start = before
      before += statement.length + 1
      return loseLimits(statement).map((at) => text.slice(0, start + at).split("\n").length)
    })
}

/** Returns each template of a source with its insertions blanked, and its first line. */
const templates = (file: string, source: string): ReadonlyArray<{ readonly text: string; readonly line: number }> => {
  const found: Array<{ readonly text: string; readonly line: number }> = []
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateLiteral(node)) {
      const spans = ts.isTemplateExpression(node) ? node.templateSpans.map(({ expression }) => expression) : []
      const start = node.getStart(parsed)
      let text = node.getText(parsed).slice(1, -1)
      for (const span of spans) {
        const from = span.getStart(parsed) - start - 1
        text = text.slice(0, from) + blank(span.getText(parsed)) + text.slice(from + span.getText(parsed).length)
      }
      found.push({ text, line: parsed.getLineAndCharacterOfPosition(start).line })
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed)
  return found
}
const blank = (text: string): string => text.replace(/[^\n]/g, " ")

for (const [text, expected] of [
  ["update a set b = 1 from (select id from a order by id limit 7 for update) chosen where a.id = chosen.id", 1],
  ["delete from a where id in (select id from a limit 7)", 1],
  ["delete from a where id = any (array(\nselect id from a limit 7 for no key update skip locked))", 1],
  ["with chosen as (select id from a limit 7 for update of a) delete from a using chosen where a.id = chosen.id", 1],
  ["with chosen as materialized (select id from a limit 7 for update) update a set b = 1 from chosen", 0],
  ["select id from a limit 7 for update; update a set b = (select b from c limit 1)", 0],
  ["select count(*) from (select from a limit 7) counted -- update it (limit 1 for update)", 0],
] as const) {
  if (limitLines(text).length !== expected) throw new Error(`this tool is wrong about: ${text}`)
}

const functions = globSync("packages/postgres/sql/functions/*.sql", { cwd: root })
const sources = globSync(["{packages,packages/test-support,apps}/*/src/**/*.{ts,tsx}", "benchmarks/**/*.ts"], {
  cwd: root,
  exclude: ["**/node_modules"],
})
const violations: string[] = []
let statements = 0
const look = (file: string, text: string, line: number): void => {
  statements += text.split(";").length
  for (const at of limitLines(text)) {
    violations.push(
      `${file}:${line + at} may apply its limit more than once: choose the rows in a "with … as materialized (select … limit …)"`,
    )
  }
}
for (const file of functions) look(file, readFileSync(join(root, file), "utf8"), 0)
for (const file of sources) {
  const source = readFileSync(join(root, file), "utf8")
  if (!/\blimit\b/i.test(source)) continue
  for (const { text, line } of templates(file, source)) look(file, text, line)
}
if (functions.length === 0 || sources.length === 0) throw new Error("no statements found")
report(violations, `${statements} statements`)
