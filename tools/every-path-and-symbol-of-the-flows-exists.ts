/**
 * Checks `docs/flows.md`: each path in backticks is a file or folder, in full or by its end (`handlers/webhooks.ts`); each other word in
 * backticks occurs in the code, and in the file after "in" if there is one. The longest journeys name few files.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "./listFiles.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const PAGE = "docs/flows.md"
const CODE_SPAN = /`([^`]+)`/g
const FILE = /\.(?:tsx?|sql|json|md|sh)$/
/** The text between two names of a list, and between the last name and its file. */
const BETWEEN_NAMES = /^(?:,| and| or|, and)\s+$/
const BEFORE_FILE = /^\s+in\s+$/
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)(?:\/\/|--\s).*$/gm

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const files = listFiles()
const codeFiles = files.filter(
  (file) => /^(?:apps|packages)\/.*\.(?:tsx?|sql|json)$/.test(file) && !/\/test\/|schema\.sql$/.test(file),
)
const wordsOf = (file: string): ReadonlySet<string> =>
  new Set(
    read(file)
      .replaceAll(COMMENT, "")
      .match(/[\w-]+|\w+/g),
  )
const words = new Map(codeFiles.map((file) => [file, wordsOf(file)]))
const allWords = new Set([...words.values()].flatMap((each) => [...each]))

/** Returns the files of a path: a file, the files of a folder, or the files whose path ends with it. */
const filesOf = (path: string): ReadonlyArray<string> => {
  const inFull = files.filter((file) => file === path || file.startsWith(`${path.replace(/\/$/, "")}/`))
  return inFull.length > 0 ? inFull : files.filter((file) => `/${file}`.endsWith(`/${path}`))
}
const isPath = (text: string): boolean => FILE.test(text) || /^(?:apps|packages|docs|tools)\//.test(text)

const page = read(PAGE)
const spans = [...page.matchAll(CODE_SPAN)].map(({ 0: whole, 1: text = "", index }) => ({
  text,
  start: index,
  end: index + whole.length,
}))
const between = (at: number): string => page.slice(spans[at]!.end, spans[at + 1]?.start)

/** Returns the file after "in" that follows a name or its list. */
const fileAfter = (at: number): string | undefined => {
  const next = spans[at + 1]?.text
  if (next === undefined) return undefined
  if (BEFORE_FILE.test(between(at)) && FILE.test(next)) return next
  return BETWEEN_NAMES.test(between(at)) && !isPath(next) ? fileAfter(at + 1) : undefined
}

const violations = spans.flatMap(({ text }, at) => {
  const line = `${PAGE}:${page.slice(0, spans[at]!.start).split("\n").length}`
  if (isPath(text))
    return filesOf(text).length > 0 || text.includes("…") ? [] : [`${line} names ${text}, which is not there`]
  const names = text.match(/[A-Za-z][\w-]*/g) ?? []
  const file = fileAfter(at)
  const known = (name: string): boolean =>
    file === undefined ? allWords.has(name) : filesOf(file).some((each) => words.get(each)?.has(name))
  return names
    .filter((name) => !known(name))
    .map((name) => `${line} names ${name}, which is not in ${file ?? "the code"}`)
})

/** The journeys that are read as a whole; each names at most 20 files. */
const JOURNEYS = ["API request", "Inbound event", "E-mail", "Open or click", "Erasure"]
const MAX_FILES = 20
const sections = page.split(/^## /m)
const long = JOURNEYS.flatMap((title) => {
  const section = sections.find((each) => each.startsWith(`${title}\n`)) ?? ""
  const named = new Set([...section.matchAll(CODE_SPAN)].map(([, text = ""]) => text).filter(isPath))
  return named.size > 0 && named.size <= MAX_FILES
    ? []
    : [`${PAGE}: ${title} names ${named.size} files; 1 to ${MAX_FILES} can be read as a whole`]
})
report([...violations, ...long], `${spans.length} paths and symbols`)
