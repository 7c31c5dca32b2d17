/**
 * Applies the code of "Add an operation" in docs/recipes.md to a copy of the repository: it must be formatted and compile, its test must pass, and the
 * reference of `ops` and a page of the console must show the operation.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { copyRepository } from "./copyRepository.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const CHAPTER = /^## Add an operation\n(.*?)^## /ms
const FENCE = /^```diff\n\+\+\+ (\S+)\n(.*?)^```$/gms
const MAX_TEST_LINES = 10
const REFERENCE = "apps/ops/commands.md"
const HEADING = "## `ops programs rename <program>`"
/** These load every operation with the services that it needs. */
const MAINS = ["apps/ops/src/main.ts", "apps/console/src/main.ts"]
const CONSOLE_TEST = "apps/console/test/recipe.test.ts"
const CONSOLE_TEST_CODE = `import { seedCampaign } from "@outreach/testing/seedCampaign"
import { expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

const test = startConsole()

it("shows the form of the operation", async () => {
  const { program } = await test().run(seedCampaign({ recipients: 0 }))
  const { document } = await (await test().as("operator")).get(\`/programs/\${program.id}\`)
  const form = document.querySelector(\`form[action="/programs/\${program.id}/rename"]\`)
  const texts = [...form!.querySelectorAll("label > span, small, button")].map(({ textContent }) => textContent)
  expect(texts).toEqual(["Name", "Shown to operators and in e-mails", "Rename"])
})
`

/** Applies the lines of a fence to a file. They start as in a unified diff, and `@@` separates hunks. Without old lines, the new ones are appended. */
function apply(file: string, fence: string): void {
  const path = join(copy, file)
  let text = existsSync(path) ? readFileSync(path, "utf8") : ""
  for (const hunk of fence.split("@@\n")) {
    const [before, after] = [/^\+.*\n/gm, /^-.*\n/gm].map((others) => hunk.replace(others, "").replace(/^./gm, ""))
    if (before === "") text += after
    else if (text.split(before!).length === 2) text = text.replace(before!, () => after!)
    else violations.push(`${file} doesn't contain these lines once:\n${before}`)
  }
  writeFileSync(path, text)
}

function attempt(title: string, ...[command = "", ...args]: ReadonlyArray<string>): void {
  try {
    execFileSync(command, args, { cwd: copy, stdio: "pipe", timeout: 300_000 })
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: Buffer; readonly stderr: Buffer }
    violations.push(`${title}:\n${stdout}${stderr}`)
  }
}

const violations: string[] = []
const [, chapter = ""] = CHAPTER.exec(readFileSync(join(root, "docs/recipes.md"), "utf8")) ?? []
const fences = [...chapter.matchAll(FENCE)]
const files = fences.map(([, file = ""]) => file)
const tests = files.filter((file) => file.endsWith(".test.ts"))
const copy = mkdtempSync(join(tmpdir(), "outreach-recipe-"))
try {
  copyRepository(copy)
  for (const [, file = "", fence = ""] of fences) apply(file, fence)
  const lines = tests.flatMap((file) => readFileSync(join(copy, file), "utf8").trim().split("\n"))
  if (tests.length !== 1 || lines.length > MAX_TEST_LINES)
    violations.push(
      `The recipe has ${tests.length} tests of ${lines.length} lines, not one of at most ${MAX_TEST_LINES}`,
    )
  attempt("The code of the recipe is not formatted", "node_modules/.bin/biome", "format", ...files)

  const project = { extends: "./tsconfig.json", include: [], files: [...files, ...MAINS] }
  writeFileSync(join(copy, "tsconfig.recipe.json"), JSON.stringify(project))
  attempt("The recipe does not compile", "node_modules/.bin/tsc", "-p", "tsconfig.recipe.json")

  writeFileSync(join(copy, CONSOLE_TEST), CONSOLE_TEST_CODE)
  const vitest = [process.execPath, "node_modules/vitest/vitest.mjs", "run", "--update"]
  if (violations.length === 0)
    attempt("The recipe does not work", ...vitest, ...tests, CONSOLE_TEST, "apps/ops/test/reference.test.ts")
  if (violations.length === 0 && !readFileSync(join(copy, REFERENCE), "utf8").includes(`\n${HEADING}\n`))
    violations.push(`${REFERENCE} lacks ${HEADING}`)
} finally {
  rmSync(copy, { recursive: true, force: true, maxRetries: 10 })
}
report(violations, `${files.length} files`)
