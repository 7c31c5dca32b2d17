/**
 * Prints what the gate runs, by `.ci/proofs.yaml`: `node tools/proofs.ts gate` prints the files of the proofs, `node tools/proofs.ts promises` the scripts.
 *
 * It fails if a path of the file doesn't exist, or if no path adds a proof to the gate.
 */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { root } from "./publishedPackages.ts"

interface Gate {
  /** The proofs of every change. */
  readonly core: ReadonlyArray<string>
  /** Proofs that are added if a path has changed. */
  readonly changed: ReadonlyArray<{ readonly paths: ReadonlyArray<string>; readonly proofs: ReadonlyArray<string> }>
  /** Scripts of `tools/` that take seconds. */
  readonly promises: ReadonlyArray<string>
}

const { core, changed, promises }: Gate = parse(readFileSync(join(root, ".ci/proofs.yaml"), "utf8"))
const proofs = globSync("{packages,packages/test-support,apps}/*/test/**/*.proof.ts", { cwd: root })
  .concat(globSync("examples/test/**/*.proof.ts", { cwd: root }))
  .sort()

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()

/** Lists the changed files. Without a commit to compare with, as in a shallow clone, there are none. */
const changedFiles = (): ReadonlyArray<string> => {
  try {
    return git("diff", "--name-only", process.env["BASE_REVISION"] || "HEAD~1", "HEAD").split("\n")
  } catch {
    process.stderr.write("There is no commit to compare with: no proofs of changed paths are added.\n")
    return []
  }
}

const isBelow = (file: string, paths: ReadonlyArray<string>): boolean => paths.some((path) => file.startsWith(path))
const scripts = promises.map((name) => `tools/${name}.ts`)
const paths = [...core, ...changed.flatMap((each) => [...each.paths, ...each.proofs]), ...scripts]
const missing = paths.filter((path) => !existsSync(join(root, path)))
if (missing.length > 0) throw new Error(`.ci/proofs.yaml names paths that don't exist: ${missing.join(", ")}`)
const unknown = proofs.filter((proof) => !isBelow(proof, core.concat(changed.flatMap((each) => each.proofs))))
if (unknown.length > 0) throw new Error(`.ci/proofs.yaml lacks proofs: ${unknown.join(", ")}`)

if (process.argv[2] === "promises") console.log(scripts.join("\n"))
else {
  const files = changedFiles()
  const added = changed.filter((each) => files.some((file) => isBelow(file, each.paths))).flatMap((each) => each.proofs)
  // A changed proof is also a changed path.
  console.log(proofs.filter((proof) => files.includes(proof) || isBelow(proof, core.concat(added))).join("\n"))
}
