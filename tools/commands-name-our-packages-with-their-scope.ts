/**
 * Checks that no document, page or help text installs or runs one of our packages without its scope.
 * npm would fetch a stranger's package of that name.
 */
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { listFiles } from "./listFiles.ts"
import { publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const COMMAND =
  /\b(?:npx|bunx|pnpx|(?:npm|pnpm|yarn|bun) (?:install|i|add|exec|x|dlx)|deno (?:add|install|run))\b([^\n`"'<;|&]*)/g
const FILES = ["*.md", "*.ts", "*.tsx", "*.js", "*.mjs", "*.html", "*.json", "*.yml", "*.svelte"]

const ours = new Set(publishedPackages().flatMap(({ folder, name }) => [basename(folder), basename(name)]))

/** Returns our packages that the commands of a text name without a scope. */
const unscopedNames = (text: string): readonly string[] =>
  [...text.matchAll(COMMAND)]
    .flatMap(([, words = ""]) => words.split(/\.(?:\s|$)/)[0]!.split(/[\s,]+/))
    .map((word) => word.replace(/^npm:/, "").replace(/(?<=.)@.*$/, ""))
    .filter((word) => ours.has(word))

const [example] = ours
for (const [text, expected] of [
  [`npx ${example} verify`, 1],
  [`<code>npm i -D typescript ${example}@1</code>`, 1],
  [`npx @outreach/${example} verify`, 0],
  [`npx -y -p node@24 pnpm start. The ${example}`, 0],
] as const) {
  if (unscopedNames(text).length !== expected) throw new Error(`this tool is wrong about: ${text}`)
}

const files = listFiles(...FILES)
const violations = files.flatMap((file) =>
  unscopedNames(readFileSync(join(root, file), "utf8")).map(
    (name) => `${file} names ${name} without its scope in a command: write @outreach/${name}`,
  ),
)
report(violations, `${files.length} files`)
