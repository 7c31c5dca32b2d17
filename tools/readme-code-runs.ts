/**
 * Type-checks every `ts` fence of the READMEs and of `docs/` strictly, and runs each as a module inside its package. Arguments name the pages;
 * by default all of them.
 */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { publishedLibraries, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const FENCE = /^```ts\b.*\n([\s\S]*?)^```$/gm
const TIMEOUT_MS = 30_000

function run(command: string, args: readonly string[], cwd: string): string | null {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: TIMEOUT_MS })
  return status === 0 ? null : [stdout, stderr, error?.message].join("")
}

/** Checks the fences of a page in a temporary folder of its package, where the package can import itself by name. */
function violationsOf(page: string): { fences: number; violations: string[] } {
  const title = relative(root, page)
  if (!existsSync(page)) return { fences: 0, violations: [`${title} is missing`] }
  const folder = dirname(page)
  const fences = [...readFileSync(page, "utf8").matchAll(FENCE)].map((match) => match[1] ?? "")
  const tempDir = join(folder, ".readme-code")
  try {
    rmSync(tempDir, { recursive: true, force: true })
    mkdirSync(tempDir)
    fences.forEach((code, i) => {
      writeFileSync(join(tempDir, `fence${i + 1}.ts`), code)
    })
    const extend = join(relative(tempDir, root), "tsconfig.base.json")
    const tsconfig = {
      extends: extend,
      compilerOptions: { types: ["node"], noUnusedLocals: false },
      files: fences.map((_, i) => `fence${i + 1}.ts`),
    }
    writeFileSync(join(tempDir, "tsconfig.json"), JSON.stringify(tsconfig))
    const untyped = fences.length === 0 ? null : run(join(root, "node_modules/.bin/tsc"), ["-p", tempDir], folder)
    const failures = fences.map((_, i) => run(process.execPath, [join(tempDir, `fence${i + 1}.ts`)], folder))
    return {
      fences: fences.length,
      violations: [
        ...(untyped === null ? [] : [`${title} does not compile:\n${untyped}`]),
        ...failures.flatMap((output, i) =>
          output === null ? [] : [`${title}, ts fence ${i + 1}, does not run:\n${output}`],
        ),
      ],
    }
  } finally {
    rmSync(tempDir, { recursive: true, force: true })
  }
}

const named = process.argv.slice(2)
const packages = named.length > 0 ? [] : publishedLibraries()
const published = packages.map(({ folder }) => ({ folder, ...violationsOf(join(folder, "README.md")) }))
const withoutCode = published
  .filter(({ fences, violations }) => fences + violations.length === 0)
  .map(({ folder }) => `${relative(root, folder)}/README.md shows no ts code`)
const pages = named.length > 0 ? named : ["README.md", "CONTRIBUTING.md", ...globSync("docs/*.md", { cwd: root })]
const all = [...published, ...pages.map((page) => violationsOf(join(root, page)))]
report(
  [...all.flatMap(({ violations }) => violations), ...withoutCode],
  `${all.reduce((sum, { fences }) => sum + fences, 0)} fences`,
)
