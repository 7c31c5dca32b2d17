import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

// tsup bundles this file and keeps only the URL of the source.
const root = fileURLToPath(new URL("../..", import.meta.url))

const UNRELEASED = "0.0.0-dev"

/** PostgreSQL truncates `application_name` after 63 bytes: `outreach-console/`, the version, `+` and 12 characters of the commit. */
const MAX_VERSION_LENGTH = 63 - "outreach-console/".length - "+".length - 12

/** The version of the service in `deploy/package.json`, which `changeset version` raises. */
export const serviceVersion = (): string => {
  const { version } = JSON.parse(readFileSync(join(root, "deploy/package.json"), "utf8")) as {
    readonly version: string
  }
  if (version.length > MAX_VERSION_LENGTH)
    throw new Error(`the version ${version} has over ${MAX_VERSION_LENGTH} characters`)
  return version
}

/**
 * Returns the release's name: version and commit if the commit has the tag of its version and no file has changed, otherwise `0.0.0-dev` and the
 * commit. `RELEASE` sets the name without git.
 */
export const nameRelease = (): string => {
  const { RELEASE } = process.env
  if (RELEASE !== undefined && RELEASE !== "") return RELEASE
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  const version = serviceVersion()
  try {
    const commit = git("rev-parse", "--short=12", "HEAD")
    const isClean = git("status", "--porcelain") === ""
    const isTagged = git("tag", "--points-at", "HEAD").split("\n").includes(`v${version}`)
    return isTagged && isClean ? `${version}+${commit}` : `${UNRELEASED}+${commit}${isClean ? "" : ".dirty"}`
  } catch {
    return UNRELEASED
  }
}
