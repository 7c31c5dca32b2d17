import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { commandLine } from "@outreach/embedded-postgres/processToken"
import { eventually } from "@outreach/testing/eventually"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { describe, expect, it, onTestFinished } from "vitest"
import { processTree, runs } from "./processTree.ts"
import { received } from "./receivedEvents.ts"
import { runSandbox, sandboxFolder } from "./runSandbox.ts"

const ROOT = join(import.meta.dirname, "../../..")

/** Finds the process of a sandbox that runs a service. */
const serviceOf = async (sandbox: number, service: "api" | "worker"): Promise<number | undefined> => {
  for (const pid of processTree(sandbox)) {
    if ((await commandLine(pid)).includes(`${service}/src/main.ts`)) return pid
  }
  return undefined
}

it("starts a killed worker and a killed API again, says so in its live line, and loses nothing", async () => {
  const folder = await sandboxFolder()
  const sandbox = runSandbox(["--folder", folder, "--host", loopbackAddress()])
  const addresses = await sandbox.addresses(folder)
  await eventually(
    () => received(addresses),
    ({ counts }) => (counts["outreach.email_sent"] ?? 0) > 0,
  )
  process.kill((await serviceOf(sandbox.pid, "worker"))!, "SIGKILL")
  await eventually(
    async () => sandbox.output(),
    (output) => /^worker ended \(SIGKILL\), restart.* · published/m.test(output),
  )
  const api = (await serviceOf(sandbox.pid, "api"))!
  process.kill(api, "SIGKILL")
  await eventually(
    async () => sandbox.output(),
    (output) => /^API ended \(SIGKILL\), restart.* · worker ended \(SIGKILL\), restarted · published/m.test(output),
  )
  // The worker's deliveries are retried when their leases expire, except to clinicians who have unsubscribed or signed up meanwhile.
  await eventually(
    async () => sandbox.output(),
    (output) => output.includes("campaign completed"),
    300_000,
  )
  expect((await fetch(`${addresses.base_url}/v1/health`)).status).toBe(200)

  const processes = [api, ...processTree(sandbox.pid)]
  const stopping = performance.now()
  sandbox.kill("SIGINT")
  expect(await sandbox.ended).toBe(0)
  // Five seconds on a quiet machine; a busy one gets more.
  expect(performance.now() - stopping).toBeLessThan(60_000)
  expect(processes.filter(runs)).toEqual([])
})

it("gives up with one sentence when the worker dies again and again, and leaves nothing", async () => {
  const folder = await sandboxFolder()
  const sandbox = runSandbox(["--folder", folder, "--host", loopbackAddress()])
  await sandbox.addresses(folder)
  const processes = new Set(processTree(sandbox.pid))
  await eventually(
    async () => {
      const worker = await serviceOf(sandbox.pid, "worker")
      for (const pid of processTree(sandbox.pid)) processes.add(pid)
      if (worker !== undefined && runs(worker)) process.kill(worker, "SIGKILL")
      return runs(sandbox.pid)
    },
    (running) => !running,
  )
  expect(await sandbox.ended).toBe(1)
  expect(sandbox.output()).toContain(
    "The worker keeps ending: it was restarted 5 times in a row, and ended again (SIGKILL).",
  )
  expect([...processes].filter(runs)).toEqual([])
  expect(existsSync(join(folder, "sandbox.json"))).toBe(false)
})

it("says what an earlier run has left, and how to begin anew", async () => {
  const folder = await sandboxFolder()
  const args = ["--folder", folder, "--host", loopbackAddress()]
  const first = runSandbox(args)
  const addresses = await first.addresses(folder)
  await eventually(
    () => received(addresses),
    ({ counts }) => counts["outreach.email_sent"] === 982 && counts["outreach.email_bounced"] === 18,
    240_000,
  )
  first.kill("SIGINT")
  await first.ended
  expect(first.output()).not.toContain("This continues an earlier run")

  const second = runSandbox(args)
  await second.addresses(folder)
  await eventually(
    async () => second.output(),
    (output) => output.includes("npm start -- --fresh"),
  )
  expect(second.output()).toMatch(
    /This continues an earlier run: the campaign "Sandbox invitation" of \d{4}-\d\d-\d\d is (sending|completed), with 982 of 1,000 e-mails sent and 18 bounced\.\nThe mail catcher begins empty, because e-mails are not kept from one run to the next\. To begin anew: npm start -- --fresh/,
  )
})

describe("a folder that cannot hold it", () => {
  /** Mounts a small file system in memory. */
  const mount = async (options: string): Promise<string> => {
    const folder = join(await sandboxFolder(), "disk")
    await mkdir(folder)
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder])
    onTestFinished(() => void execFileSync("umount", ["--lazy", folder]))
    return folder
  }
  const canMount = process.platform === "linux" && process.getuid?.() === 0

  it.skipIf(!canMount).each([
    ["ro", /^\S+\/disk cannot be written: the file system is read-only; choose another folder with --folder\.\n$/],
    ["size=1m", /^The disk of \S+\/disk is full: 1 MB are free, and the sandbox needs 150 MB\. .*--folder\.\n$/],
  ])("is named in one sentence: %s", async (options, sentence) => {
    const sandbox = runSandbox(["--folder", await mount(options), "--host", loopbackAddress()])
    expect(await sandbox.ended).toBe(1)
    expect(sandbox.output()).toMatch(sentence)
  })

  it.skipIf(!canMount)("ends it with one sentence when its disk fills up", async () => {
    const folder = await mount("size=400m,mode=755")
    const sandbox = runSandbox(["--folder", folder, "--host", loopbackAddress()])
    await sandbox.addresses(folder)
    await eventually(
      async () => sandbox.output(),
      (output) => output.includes("published 1,000 of 1,000"),
      240_000,
    )
    const processes = processTree(sandbox.pid)
    const chunk = Buffer.alloc(1_000_000)
    try {
      for (let i = 0; i < 1000; i++) writeFileSync(join(folder, `filler${i}`), chunk)
    } catch {
      // Full.
    }
    expect(await sandbox.ended).toBe(1)
    expect(sandbox.output()).toMatch(
      /(The disk of \S+\/disk is full|cannot be written: the disk is full).*--folder\.\n/,
    )
    expect(sandbox.output()).not.toMatch(/^ +at /m)
    expect(processes.filter(runs)).toEqual([])
  })
})

it("runs with Node 20, which fetches what it needs, and says so where types cannot be stripped", () => {
  // What this test was started with has found the tools already.
  const { OUTREACH_TOOLS_FOUND: _, ...env } = process.env
  const scripts = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts as Record<string, string>
  for (const name of ["start", "ops", "webhook"]) {
    const [, ...script] = scripts[name]!.split(" ")
    const run = (...command: [string, ...string[]]) =>
      spawnSync(command[0], [...command.slice(1), ...script, "--help"], { cwd: ROOT, encoding: "utf8", env })
    expect(run("npx", "-y", "-p", "node@20", "node")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/--help|npx/),
    })
    expect(run(process.execPath, "--no-strip-types")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^This runs TypeScript, which --no-strip-types forbids here.*\n$/),
    })
  }
})
