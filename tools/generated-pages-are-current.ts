/** Compares the tables of docs/settings.md with the settings that the processes declare; `--write` updates them. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"
import { settingsPage } from "./settingsPage.ts"

const path = join(root, "docs/settings.md")
const page = settingsPage()
if (process.argv.includes("--write")) writeFileSync(path, page)
const isCurrent = readFileSync(path, "utf8") === page
report(
  isCurrent ? [] : ["docs/settings.md is not current: node tools/generated-pages-are-current.ts --write"],
  "docs/settings.md",
)
