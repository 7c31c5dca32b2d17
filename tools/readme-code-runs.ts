/** Type-checks every `ts` fence of the READMEs and of the pages of `docs/`, strictly, and runs each one as a module inside its package. */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const FENCE = /^```ts\b.*\n([\s\S]*?)^```$/gm
const TIME_LIMIT = 30_000

function run(command: string, args: readonly string[], cwd: string): string | null {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: TIME_LIMIT })
  return status === 0 ? null : [stdout, stderr, error?.message].join("")
}

/** Checks the fences of a page in a folder of their own beside it, where a package resolves itself by name. */
function breachesOf(page: string): { fences: number; breaches: string[] } {
  const title = relative(root, page)
  if (!existsSync(page)) return { fences: 0, breaches: [`${title} is missing`] }
  const folder = dirname(page)
  const fences = [...readFileSync(page, "utf8").matchAll(FENCE)].map((match) => match[1] ?? "")
  const workshop = join(folder, ".readme-code")
  try {
    rmSync(workshop, { recursive: true, force: true })
    mkdirSync(workshop)
    fences.forEach((code, i) => {
      writeFileSync(join(workshop, `fence${i + 1}.ts`), code)
    })
    const extend = join(relative(workshop, root), "tsconfig.base.json")
    const tsconfig = {
      extends: extend,
      compilerOptions: { types: ["node"], noUnusedLocals: false },
      files: fences.map((_, i) => `fence${i + 1}.ts`),
    }
    writeFileSync(join(workshop, "tsconfig.json"), JSON.stringify(tsconfig))
    const untyped = fences.length === 0 ? null : run(join(root, "node_modules/.bin/tsc"), ["-p", workshop], folder)
    const failures = fences.map((_, i) => run(process.execPath, [join(workshop, `fence${i + 1}.ts`)], folder))
    return {
      fences: fences.length,
      breaches: [
        ...(untyped === null ? [] : [`${title} does not compile:\n${untyped}`]),
        ...failures.flatMap((output, i) =>
          output === null ? [] : [`${title}, ts fence ${i + 1}, does not run:\n${output}`],
        ),
      ],
    }
  } finally {
    rmSync(workshop, { recursive: true, force: true })
  }
}

const published = publishedPackages().map(({ folder }) => ({ folder, ...breachesOf(join(folder, "README.md")) }))
const mute = published
  .filter(({ fences, breaches }) => fences + breaches.length === 0)
  .map(({ folder }) => `${relative(root, folder)}/README.md shows no ts code`)
const pages = ["README.md", "CONTRIBUTING.md", ...globSync("docs/*.md", { cwd: root })]
const all = [...published, ...pages.map((page) => breachesOf(join(root, page)))]
report(
  [...all.flatMap(({ breaches }) => breaches), ...mute],
  `${all.reduce((sum, { fences }) => sum + fences, 0)} fences`,
)
