import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { buildArtifact, REPOSITORY } from "./artifact.ts"

/** The commit whose processes run beside those of this one: of the last release, once there is one. */
const COMMIT = "55529e50c6cfd9d54196fc1bf6e0c35ca05aaf70"

const run = promisify(execFile)

/** Builds the artifact of the last release into `<folder>/out`; returns why it cannot where the clone has not its commit. */
export const buildPreviousRelease = async (folder: string): Promise<{ readonly missing: string } | undefined> => {
  const source = join(folder, "source")
  const git = (...args: ReadonlyArray<string>) => run("git", ["-C", REPOSITORY, ...args])
  try {
    await git("cat-file", "-e", `${COMMIT}^{commit}`)
  } catch {
    const missing = `the clone does not hold the last release, ${COMMIT}; \`git fetch --unshallow\` gets it`
    process.stderr.write(`Skipped: ${missing}.\n`)
    return { missing }
  }
  await run("git", ["clone", "--quiet", "--shared", "--no-checkout", REPOSITORY, source])
  await run("git", ["-C", source, "checkout", "--quiet", COMMIT])
  await run("pnpm", ["install", "--frozen-lockfile", "--prefer-offline"], {
    cwd: source,
    env: { ...process.env, CI: "true" },
    maxBuffer: 2 ** 26,
  })
  await buildArtifact(folder, source)
  return undefined
}
