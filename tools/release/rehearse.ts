/**
 * Rehearses `.github/workflows/release.yml` for a tag in a clone of the current commit: makes, commits and tags the versions as a maintainer
 * would, and runs every `run:` step of the jobs `build` and `publish`. The image goes to a local registry.
 *
 * It skips and lists the parts that need GitHub: the actions, including the signatures, and `gh`, for which it checks the arguments.
 */
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { loopbackAddress } from "@outreach/embedded-postgres/loopbackAddress"
import { parse } from "yaml"
import { root } from "./run.ts"

interface Step {
  readonly run?: string
  readonly uses?: string
  readonly id?: string
  readonly env?: Readonly<Record<string, string>>
}
interface Workflow {
  readonly jobs: Readonly<Record<"build" | "publish", { readonly steps: ReadonlyArray<Step> }>>
}

const { jobs } = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")) as Workflow
const home = mkdtempSync(join(tmpdir(), "outreach-rehearsal-"))
const bin = join(home, "bin")
const say = (line: string) => console.log(`\n── ${line}`)

/** Writes a stand-in for a program that only GitHub's machines have. */
const standIn = (name: string, script: string) => {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, name), 0o755)
}
mkdirSync(bin)
if (process.getuid?.() === 0) standIn("sudo", 'exec "$@"')
standIn("gh", 'printf "%s\\n" "$@" > "$GH_RECORD"')

const env: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `${bin}:${process.env["PATH"]}`,
  CI: "true",
  npm_config_prefix: home,
  GH_RECORD: join(home, "gh"),
  GH_TOKEN: "none",
  GITHUB_ACTOR: "rehearsal",
  GITHUB_REPOSITORY: "Example/outreach-partner-api",
  GITHUB_ENV: join(home, "env"),
  GITHUB_OUTPUT: join(home, "output"),
}
const at = (cwd: string, command: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim()

const runJob = (name: keyof Workflow["jobs"], cwd: string) => {
  for (const step of jobs[name].steps) {
    if (step.run === undefined) {
      say(`${name}: left out: ${step.uses}`)
      continue
    }
    say(`${name}: ${step.run}`)
    // The runner's shell.
    const args = ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run]
    execFileSync("bash", args, { cwd, env: { ...env, ...step.env }, stdio: ["ignore", "inherit", "inherit"] })
    for (const line of existsSync(env["GITHUB_ENV"]!) ? readFileSync(env["GITHUB_ENV"]!, "utf8").split("\n") : []) {
      const [variable = "", value] = line.split("=", 2)
      if (value !== undefined) env[variable] = value
    }
  }
}

/** Clones a repository as `actions/checkout` does: the commit and its tag. */
const clone = (folder: string, from: string, ref: string) => {
  at(
    home,
    "git",
    "-c",
    "advice.detachedHead=false",
    "clone",
    "--quiet",
    "--depth=1",
    "--branch",
    ref,
    `file://${from}`,
    folder,
  )
  at(folder, "git", "config", "user.name", "rehearsal")
  at(folder, "git", "config", "user.email", "rehearsal@outreach.test")
}

/** Starts a registry of images, and returns its host. */
const startRegistry = async (program: string): Promise<string> => {
  const host = `${loopbackAddress()}:5000`
  const storage = { filesystem: { rootdirectory: join(home, "registry") } }
  writeFileSync(join(home, "registry.yml"), JSON.stringify({ version: 0.1, storage, http: { addr: host } }))
  mkdirSync(join(home, ".config/containers"), { recursive: true })
  writeFileSync(
    join(home, ".config/containers/registries.conf"),
    `[[registry]]\nlocation = "${host}"\ninsecure = true\n`,
  )
  const child = spawn(program, ["serve", join(home, "registry.yml")], { stdio: "ignore" })
  process.once("exit", () => child.kill())
  while (
    !(await fetch(`http://${host}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error("the registry ended")
    await new Promise((waited) => setTimeout(waited, 100))
  }
  return host
}

const expectSame = (what: string, actual: unknown, expected: unknown) => {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`)
  say(`${what}: ${actual}`)
}

try {
  const registry = findProgram("docker-registry")
  if ("missing" in registry) throw new Error(registry.missing)
  env["REGISTRY"] = await startRegistry(registry.program)

  say("as a maintainer: changeset version, commit, tag")
  const maintainer = join(home, "maintainer")
  at(home, "git", "-c", "advice.detachedHead=false", "clone", "--quiet", root, maintainer)
  at(maintainer, "pnpm", "install", "--frozen-lockfile", "--prefer-offline", "--silent")
  at(maintainer, "pnpm", "changeset", "version")
  at(maintainer, "git", "add", "--all")
  const author = ["-c", "user.name=x", "-c", "user.email=x@outreach.test"]
  at(maintainer, "git", ...author, "commit", "--quiet", "--message=Release")
  const { version } = JSON.parse(readFileSync(join(maintainer, "deploy/package.json"), "utf8")) as { version: string }
  const tag = `v${version}`
  at(maintainer, "git", "tag", tag)
  env["GITHUB_REF_NAME"] = tag

  const workspace = join(home, "workspace")
  clone(workspace, maintainer, tag)
  runJob("build", workspace)

  const artifact = join(home, "artifact")
  cpSync(join(workspace, "dist/release"), artifact, { recursive: true })
  // Uses separate passwords and a registry without TLS.
  env["HOME"] = home
  runJob("publish", artifact)

  const image = `docker://${env["image"]}:${version}`
  const commit = at(workspace, "git", "rev-parse", "--short=12", "HEAD")
  const labels = '{{index .Labels "org.opencontainers.image.version"}}'
  expectSame(
    "the image that the registry has",
    at(home, "skopeo", "inspect", "--format", labels, image),
    `${version}+${commit}`,
  )
  const digest = `digest=${at(home, "skopeo", "inspect", "--format", "{{.Digest}}", image)}`
  expectSame("its digest, as the signature names it", readFileSync(env["GITHUB_OUTPUT"]!, "utf8").trim(), digest)
  const published = readFileSync(env["GH_RECORD"]!, "utf8").trim().split("\n")
  for (const file of published.slice(published.indexOf("NOTES.md"))) {
    if (!existsSync(join(artifact, file))) throw new Error(`gh would publish ${file}, which does not exist`)
  }
  say(`gh ${published.join(" ")}\n${readFileSync(join(artifact, "NOTES.md"), "utf8")}`)

  env["HOME"] = process.env["HOME"]
  say("the same commit, built again in another folder")
  const again = join(home, "another-folder")
  clone(again, maintainer, tag)
  at(again, "pnpm", "install", "--frozen-lockfile", "--prefer-offline", "--silent")
  at(again, "node", "tools/release/makeRelease.ts", "--tag", tag, "--without-image")
  const sumOf = (folder: string) =>
    readFileSync(join(folder, "SHA256SUMS"), "utf8")
      .split("\n")
      .find((line) => line.endsWith(".tar.gz"))
  expectSame("the archive", sumOf(join(again, "dist/release")), sumOf(artifact))
} finally {
  rmSync(home, { recursive: true, force: true })
}
process.exit(0)
