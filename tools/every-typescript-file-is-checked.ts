/** Checks that `pnpm check` reads every TypeScript file, including tests: in the root's project, or in that of a package. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { listFiles } from "./listFiles.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

/** Projects outside the workspace, which proofs and the nightly run install. */
const OTHERS = /^(?:benchmarks\/peers|examples\/(?:cron|invoices|limited|nestjs|nextjs|pages|react-router|sveltekit))\//

const run = (command: string, args: ReadonlyArray<string>): string =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })

/** Returns the folder of the project that a package's `check` script reads. */
function projectOf(manifest: string): ReadonlyArray<string> {
  const { scripts } = JSON.parse(readFileSync(join(root, manifest), "utf8"))
  const [, project = "."] = /^tsc(?: -p (\S+))?$/.exec(scripts?.check) ?? []
  return scripts?.check === undefined ? [] : [join(dirname(manifest), project)]
}

const projects = [".", ...listFiles("packages/*/package.json", "apps/*/package.json").flatMap(projectOf)]
const checked = new Set(
  projects.flatMap((project) => {
    const { files } = JSON.parse(run("node_modules/.bin/tsc", ["-p", project, "--showConfig"]))
    return (files as ReadonlyArray<string>).map((file) => join(project, file))
  }),
)
const violations = listFiles("*.ts", "*.tsx")
  .filter((file) => !file.endsWith(".d.ts") && !OTHERS.test(file) && !checked.has(file))
  .map((file) => `${file} is not checked by \`pnpm check\``)
report(violations, `${checked.size} files`)
