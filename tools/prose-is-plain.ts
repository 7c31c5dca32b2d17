/**
 * Measures the Markdown and the comments of the repository: words that are rare in plain documentation, and phrases in place of a sentence with a
 * subject and a verb. Well-known projects have 1 to 4 such words in 1,000.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "./listFiles.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

/** Rare words in 1,000 words of a file, and of all files; phrases in 1,000 lines of comments. */
const MAX = { file: 15, all: 6, phrases: 15 }

/** Shorter files aren't measured by themselves. */
const MIN_WORDS = 60

const RARE_WORDS =
  /\b(what|whatever|whoever|whom|whose|stands?|stood|nobody|alone|beside|says?|said|refuse[sd]?|answers|answered|asks?|asked|begins?|began|begun|anew|apart|leads?|led|cease[sd]?|holds?|held|for good|is told|are told|came of|comes of|else|nothing|others)\b/gi

const PHRASES =
  /^(what|whether it is|of |nothing|nobody|one that|those that|that of)\b|\b(of|to|by|in) which\b|\bthose that\b|, too\b|\bstands?\b|\bof its own\b|\banew\b|\bgoes on\b|\bcame\b/i

const FILES = ["*.md", "*.ts", "*.tsx", "*.sql", "*.css", "*.js", "*.mjs"]
const NOT_WRITTEN_HERE = /(^|\/)(CHANGELOG|LICENSE)|(api|types)\.d\.ts$|schema\.sql$|\/bounces\//

const CODE = /`[^`]*`|https?:\S+|\]\([^)]*\)|<[^>]+>|"[^"]*"/g
const COMMENT = /(?:^|\s)(?:\/\/|\/\*\*?|\*(?!\/)|--) (?!biome-ignore)(.*)$/gm

const linesOf = (file: string): ReadonlyArray<string> => {
  const text = readFileSync(join(root, file), "utf8")
  const lines = file.endsWith(".md")
    ? text.replaceAll(/^\s*```[\s\S]*?^\s*```/gm, "").split("\n")
    : Array.from(text.matchAll(COMMENT), ([, line = ""]) => line)
  return lines.map((line) => line.replaceAll(CODE, " "))
}

const count = (lines: ReadonlyArray<string>, pattern: RegExp): number =>
  lines.reduce((sum, line) => sum + (line.match(pattern)?.length ?? 0), 0)

const measure = (file: string) => {
  const lines = linesOf(file)
  const isCode = !file.endsWith(".md")
  return {
    file,
    words: count(lines, /[A-Za-z][A-Za-z'-]+/g),
    rare: lines.flatMap((line) => line.match(RARE_WORDS) ?? []),
    comments: isCode ? lines.length : 0,
    phrases: isCode ? lines.filter((line) => PHRASES.test(line)).length : 0,
  }
}

const measured = listFiles(...FILES)
  .filter((file) => !NOT_WRITTEN_HERE.test(file))
  .map(measure)
const sum = (of: (each: (typeof measured)[number]) => number): number =>
  measured.reduce((all, each) => all + of(each), 0)
const perThousand = (part: number, whole: number): number => (1000 * part) / Math.max(1, whole)

const rare = perThousand(
  sum((each) => each.rare.length),
  sum((each) => each.words),
)
const phrases = perThousand(
  sum((each) => each.phrases),
  sum((each) => each.comments),
)
const violations = measured
  .filter((each) => each.words >= MIN_WORDS && perThousand(each.rare.length, each.words) > MAX.file)
  .map(
    (each) => `${each.file} has ${each.rare.length} rare words in ${each.words}: ${[...new Set(each.rare)].join(", ")}`,
  )
if (rare > MAX.all) violations.push(`all files have ${rare.toFixed(1)} rare words in 1,000`)
if (phrases > MAX.phrases) violations.push(`all comments have ${phrases.toFixed(1)} phrases in 1,000 lines`)
report(
  violations.map((each) => `${each}. Name the thing, and write a sentence with a subject and a common verb.`),
  `${rare.toFixed(1)} rare words in 1,000, ${phrases.toFixed(1)} phrases in 1,000 lines of comments`,
)
