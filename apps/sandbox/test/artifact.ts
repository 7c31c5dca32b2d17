import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { cp, mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { DirectoryInUse, lockDirectory } from "@outreach/embedded-postgres/lockDirectory"
import { type AtEnd, startProgram, type TestProcess, urlIn } from "@outreach/testing/startProcess"
import { eventually, until } from "@outreach/testing/until"
import { onTestFinished } from "vitest"

export const REPOSITORY = resolve(import.meta.dirname, "../../..")
const BUILDS = join(REPOSITORY, "node_modules/.cache/artifacts")
const MAX_BUILDS = 3

export const KEY = Buffer.alloc(32, 7).toString("base64")

const run = promisify(execFile)

/** Copies the artifact of this checkout to `<folder>/out`. All processes share one build of the same sources. */
export const buildArtifact = async (folder: string): Promise<void> => {
  const build = join(BUILDS, await hashSources())
  await mkdir(BUILDS, { recursive: true })
  const lock = () =>
    lockDirectory(BUILDS).catch((error) => {
      if (error instanceof DirectoryInUse) return undefined
      throw error
    })
  const unlock = (await eventually(lock, (locked) => locked !== undefined))!
  try {
    const builds = await readdir(BUILDS)
    if (!builds.some((name) => build.endsWith(name))) await makeBuild(build)
    await cp(build, join(folder, "out"), { recursive: true })
  } finally {
    await unlock()
  }
}

const makeBuild = async (build: string): Promise<void> => {
  const unfinished = join(BUILDS, "unfinished")
  await run("pnpm", ["package", "--out-dir", unfinished], { cwd: REPOSITORY })
  await rename(unfinished, build)
  const folders = (await readdir(BUILDS))
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .map((name) => join(BUILDS, name))
  const built = await Promise.all(folders.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })))
  const old = built.toSorted((a, b) => b.at - a.at).slice(MAX_BUILDS)
  for (const { path } of old) await rm(path, { recursive: true })
}

/** Hashes the commit, and every difference from it that the artifact may contain. */
const hashSources = async (): Promise<string> => {
  const git = async (...args: ReadonlyArray<string>) =>
    (await run("git", args, { cwd: REPOSITORY, maxBuffer: 2 ** 28 })).stdout
  const sources = ["--", ".", ":!*/test/*"]
  const hash = createHash("sha256").update(process.env["RELEASE"] ?? "")
  hash.update(await git("log", "-1", "--format=%H %D")).update(await git("diff", "--binary", "HEAD", ...sources))
  hash.update((await git("status", "--porcelain")) === "" ? "clean" : "dirty")
  const untracked = await git("ls-files", "-z", "--others", "--exclude-standard", ...sources)
  for (const path of untracked.split("\0").filter(Boolean)) {
    hash.update(path).update(await readFile(join(REPOSITORY, path)))
  }
  return hash.digest("hex")
}

/** Another user, and a Node that this user may run. */
export interface OtherUser {
  readonly node: string
  readonly uid: number
  readonly gid: number
}

export interface ArtifactProcess extends TestProcess {
  readonly url: string
  readonly adminUrl: string
}

/**
 * Runs the artifact in `<folder>/out`, as another user if `user` is set, with `settings` and test defaults.
 *
 * `atEnd` registers the end of a process. Default: the end of the test. A command is killed after `commandMs`. Default: never.
 */
export const artifactIn = (
  folder: string,
  settings: () => Readonly<Record<string, string>>,
  {
    node = process.execPath,
    atEnd = onTestFinished,
    commandMs = 0,
    ...user
  }: Partial<OtherUser> & { readonly atEnd?: AtEnd; readonly commandMs?: number } = {},
) => {
  const environment = () => ({
    SECRETS_KEY: KEY,
    CURSOR_KEY: KEY,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    SHUTDOWN_DELAY_SECONDS: "0",
    PORT: "0",
    ADMIN_PORT: "0",
    MAIL_FROM: "outreach@acme.test",
    ...settings(),
  })
  const ops = async (...args: ReadonlyArray<string>): Promise<string> => {
    const options = { cwd: folder, env: environment(), ...user, timeout: commandMs, killSignal: "SIGKILL" as const }
    try {
      return (await run(node, ["out/ops.js", ...args], options)).stdout
    } catch (error) {
      // With JSON output, the reason is on standard output.
      if (error instanceof Error && "stdout" in error) error.message += error.stdout
      throw error
    }
  }

  return {
    ops,
    opsJson: async (...args: ReadonlyArray<string>) => JSON.parse(await ops(...args, "--output", "json")),

    /** Starts a process, and waits until it is ready. */
    start: async (
      name: "api" | "worker" | "console",
      others: Readonly<Record<string, string>> = {},
    ): Promise<ArtifactProcess> => {
      const options = { cwd: folder, env: { ...environment(), ...others }, ...user }
      const started = startProgram(node, ["--enable-source-maps", `out/${name}.js`], options, atEnd)
      const adminUrl = urlIn(await until(started, "admin port open"))
      const ready = await until(started, name === "worker" ? "worker started" : "listening")
      return Object.assign(started, { url: urlIn(ready), adminUrl })
    },
  }
}
