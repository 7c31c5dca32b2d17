/** Compares the generated pages with the data from which they are made; `--write` writes them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { conformancePage } from "./conformance.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const SELF = "node tools/generated-pages-are-current.ts --write"

const pages: ReadonlyArray<{ readonly path: string; readonly source: string; readonly text: () => string }> = [
  { path: "docs/conformance.md", source: "docs/conformance.yaml", text: conformancePage },
]

const isWriting = process.argv.includes("--write")
const violations = pages.flatMap(({ path, source, text }) => {
  const file = join(root, path)
  const page = `<!-- Generated from ${source} by \`${SELF}\`; edit that instead. -->\n\n${text()}`
  if (isWriting) writeFileSync(file, page)
  else if (!existsSync(file) || readFileSync(file, "utf8") !== page)
    return [`${path} differs from ${source}; write it anew: ${SELF}`]
  return []
})
report(violations, `${pages.length} pages`)
