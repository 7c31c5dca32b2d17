/** Checks that the projects of each package's `check` script contain all of its TypeScript files, including tests. */
import { execFileSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { listFiles } from "./listFiles.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const PROJECT = /\btsc(?: -p (\S+))?/g
/** Projects outside the workspace, which proofs and the nightly run install. */
const OTHERS = /^(?:benchmarks\/peers|examples\/(?:invoices|limited|nestjs|nextjs|pages|react-router|sveltekit))\//

const run = (command: string, args: ReadonlyArray<string>, cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: "utf8" })

function checkedFiles(folder: string): ReadonlySet<string> {
  const { scripts } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
  const projects = [...(scripts.check as string).matchAll(PROJECT)].map(([, project = "."]) => project)
  const files = projects.flatMap((project) => {
    const config = run(join(root, "node_modules/.bin/tsc"), ["-p", project, "--showConfig"], join(root, folder))
    return (JSON.parse(config).files as ReadonlyArray<string>).map((file) => join(folder, project, file))
  })
  return new Set(files)
}

const folders = globSync(["{packages,apps}/*/package.json", "{benchmarks,examples,tools}/package.json"], { cwd: root })
if (folders.length < 10) throw new Error("the packages were not found")
const listed = listFiles("*.ts", "*.tsx")
const violations = folders.map(dirname).flatMap((folder) => {
  const checked = checkedFiles(folder)
  return listed
    .filter(
      (file) => file.startsWith(`${folder}/`) && !file.endsWith(".d.ts") && !OTHERS.test(file) && !checked.has(file),
    )
    .map((file) => `${file} is not checked by \`pnpm --filter ./${folder} check\``)
})
report(violations, `${folders.length} packages`)
