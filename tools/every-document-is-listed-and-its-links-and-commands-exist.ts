/**
 * Checks every Markdown file: relative links lead to a file, their anchors to a heading, and each `pnpm` or `npm run` command of a
 * shell fence exists; each table has a header. The `ops` commands of fences parse, and those in sentences have known words and flags.
 * The README lists every page of `docs/`, the index of decisions lists each decision by its title, and pages of
 * `docs/` that the code names exist.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { createParser, wordsOf } from "@outreach/ops/everyCommand"
import { anchorOf } from "./anchorOf.ts"
import { listFiles } from "./listFiles.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const FENCE = /^```(\w*).*\n([\s\S]*?)^```$/gm
const CODE_SPAN = /`[^`\n]*`/g
const LINK = /\]\(([^()\s]+)\)/g
const COMMAND = /^\s*(?:\S+=\S+ )*(?:pnpm|npm run) (?:-\S+ )*([a-z][\w:-]*)/gm
const TABLE = /(?:^\|.*\n?)+/gm
const TABLE_HEAD = /^\|.*\n\|(?: *:?-+:? *\|)+$/m
const NAMED_PAGE = /(?<![\w./-])docs\/[\w./-]*?\.md\b/g
const HEADING = /^#+ (.+)$/gm
const OPS_LINE = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:pnpm |outreach-)?(ops [a-z].*?)(?: [|&#].*)?$/gm
/** A command in a sentence and the verbs after it: `ops keys list`, `create`. */
const OPS_SPANS =
  /`(?:pnpm |outreach-)?(ops [a-z-]+(?: [^`\n]*?)??)(?: …| \\?\|[^`\n]*)?`((?:(?:,| and| or|, and|, or) `[a-z-]+`)*)/g
/** Allowed faults of an incomplete command in a sentence. */
const INCOMPLETE = ["ValidationError", "InvalidValue", "UserError"]

const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** Returns the anchors of a page's headings on GitHub. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.replaceAll(FENCE, "").matchAll(HEADING)].map(([, heading = ""]) => heading)
  return new Set(headings.map(anchorOf))
}

function brokenLinks(page: string, text: string): readonly string[] {
  const prose = text.replaceAll(FENCE, "").replaceAll(CODE_SPAN, "")
  const targets = [...prose.matchAll(LINK)].map(([, target = ""]) => target)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = "", anchor] = target.split("#")
      const file = path === "" ? page : join(dirname(page), path)
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsOf(read(file)).has(anchor)
    })
    .map((target) => `${page} links to ${target}, which is not there`)
}

/** A blank line ends a table, and the rows after it become text. */
function headlessTables(page: string, text: string): readonly string[] {
  const tables = text.replaceAll(FENCE, "").match(TABLE) ?? []
  return tables
    .filter((table) => table.search(TABLE_HEAD) !== 0)
    .map((table) => `${page} has a table without a head: ${table.split("\n", 1)[0]}`)
}

const { scripts } = JSON.parse(read("package.json")) as { scripts: Readonly<Record<string, string>> }
/** Commands of pnpm itself that the documents use. */
const BUILT_IN = ["install"]

function unknownCommands(page: string, text: string): readonly string[] {
  const shell = [...text.matchAll(FENCE)].flatMap(([, language, code = ""]) => (language === "sh" ? [code] : []))
  const commands = shell.flatMap((code) => [...code.matchAll(COMMAND)].map(([, command = ""]) => command))
  return commands
    .filter((command) => !Object.hasOwn(scripts, command) && !BUILT_IN.includes(command))
    .filter((command) => !existsSync(join(root, "node_modules/.bin", command)))
    .map((command) => `${page} shows the command ${command}, which does not exist`)
}

const parseOps = await createParser()

async function unknownOpsCommands(page: string, text: string): Promise<readonly string[]> {
  const fences = [...text.matchAll(FENCE)].flatMap(([, language = "", code = ""]) =>
    /^(?:sh|console)$/.test(language) ? [code.replaceAll(/\\\n\s*/g, "").replaceAll(/"\$\([^)]*\)"/g, "1")] : [],
  )
  const lines = fences.flatMap((code) => [...code.matchAll(OPS_LINE)].map(([, command = ""]) => command))
  const spans = [...text.replaceAll(FENCE, "").matchAll(OPS_SPANS)].flatMap(([, command = "", others = ""]) => {
    const noun = command.split(" ", 2).join(" ")
    return [command, ...[...others.matchAll(/`([a-z-]+)`/g)].map(([, verb = ""]) => `${noun} ${verb}`)]
  })
  const faults: Array<string> = []
  for (const command of [...lines, ...spans]) {
    for (const { _tag, message } of await parseOps(wordsOf(command))) {
      if (lines.includes(command) || !INCOMPLETE.includes(_tag))
        faults.push(`${page} shows \`${command}\`: ${message.trim()}`)
    }
  }
  return faults
}

/** Release notes link to decisions. */
const CONFORMANCE = "docs/conformance.yaml"
const files = listFiles()
// Links of the API's guides are addresses of the API, which its tests follow.
const GUIDES = "apps/api/src/docs/guides/"
const pages = files.filter((file) => file.endsWith(".md") && !file.startsWith(GUIDES))
if (!pages.includes("README.md")) throw new Error("git lists no README.md")
const readme = read("README.md")
const unlisted = globSync("docs/*.md", { cwd: root })
  .filter((page) => !readme.includes(`](${page})`))
  .map((page) => `README.md does not list ${page}`)
const decisions = read("docs/decisions/README.md")
const unindexed = globSync("docs/decisions/0*.md", { cwd: root })
  .map((page) => `[${/^# \d+\. (.+)$/m.exec(read(page))?.[1]}](${basename(page)})`)
  .filter((link) => !decisions.includes(link))
  .map((link) => `docs/decisions/README.md does not list ${link}`)
// Names missing pages to test this script.
const SEEDS = "tools/seededViolations.ts"
const misnamed = files
  .filter((file) => /\.(?:tsx?|sql|ya?ml|json)$/.test(file) && file !== SEEDS)
  .flatMap((file) =>
    [...read(file).matchAll(NAMED_PAGE)]
      .filter(([page]) => !existsSync(join(root, page)))
      .map(([page]) => `${file} names ${page}, which is not there`),
  )
const violations = pages.flatMap((page) => {
  const text = read(page)
  return [...brokenLinks(page, text), ...unknownCommands(page, text), ...headlessTables(page, text)]
})
violations.push(...brokenLinks(CONFORMANCE, read(CONFORMANCE)))
const unknownOps: Array<string> = []
for (const page of pages) unknownOps.push(...(await unknownOpsCommands(page, read(page))))
report([...violations, ...unknownOps, ...unlisted, ...unindexed, ...misnamed], `${pages.length} documents`)
