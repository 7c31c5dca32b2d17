import { execFileSync } from "node:child_process"
import { cpSync, globSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "./listFiles.ts"
import { root } from "./publishedPackages.ts"

const NODE_MODULES = [
  "{apps,packages,packages/test-support}/*/{,test/}node_modules",
  "{benchmarks,deploy,examples,tools}/node_modules",
]

/**
 * Copies the repository: tracked, new and built files, and links to the installed packages. Packages of the workspace are those of the copy.
 * The copy is a git repository without a commit.
 */
export function copyRepository(copy: string): void {
  const built = globSync(["packages/*/dist", ...NODE_MODULES], { cwd: root })
  for (const path of [...listFiles(), ...built])
    cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true })
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: copy })
  // .gitignore names only folders.
  writeFileSync(join(copy, ".git/info/exclude"), "node_modules\n")
}
