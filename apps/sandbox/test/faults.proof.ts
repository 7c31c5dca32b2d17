import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { commandLine } from "@outreach/embedded-postgres/processToken"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { eventually } from "@outreach/testing/eventually"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { expect, it } from "vitest"
import { REPOSITORY } from "./artifact.ts"
import { processTree, runningOf } from "./processTree.ts"
import { published, pull, received, sentCount } from "./receivedEvents.ts"
import { runSandbox } from "./runSandbox.ts"

/** Recipients of the sample campaign who have a mailbox. */
const SENT = 982

/** Kills the process of a sandbox that runs a service. */
const killService = async (sandbox: number, service: "api" | "worker"): Promise<void> => {
  for (const token of await processTree(sandbox)) {
    const pid = Number.parseInt(token, 10)
    if ((await commandLine(pid)).includes(`${service}/src/main.ts`)) process.kill(pid, "SIGKILL")
  }
}

it("loses no data when its worker, its API or all processes are killed, and leaves no process running", async () => {
  const folder = temporaryFolder("faults")
  const killed = runSandbox(folder)
  const before = await killed.addresses(folder)
  await killed.shows(/ sent [1-9]/)
  await killService(killed.child.pid!, "worker")
  await killed.shows(/^worker ended \(SIGKILL\), restart.* · published/m)
  await killService(killed.child.pid!, "api")
  await killed.shows(/^API ended \(SIGKILL\), restart.* · worker ended \(SIGKILL\), restarted · published/m)
  const acknowledged = await received(before)
  for (const token of await processTree(killed.child.pid!)) process.kill(Number.parseInt(token, 10), "SIGKILL")
  await killed.ended

  const sandbox = runSandbox(folder, { host: new URL(before.base_url).hostname })
  const after = await sandbox.addresses(folder)
  for (const name of ["api_key", "campaign_id", "endpoint_id", "signing_secret", "partner_url"] as const) {
    expect(after[name]).toBe(before[name])
  }
  // Instead of waiting for the leases of the killed workers, which last 100 s.
  await withClient(after.database_url, (client) =>
    client.query("update messages set lease_until = clock_timestamp() where lease_until is not null"),
  )
  const all = await eventually(
    () => received(after),
    (now) => sentCount(now) === SENT,
    300_000,
  )
  const ids = new Set(all.events.map(({ event_id }) => event_id))
  expect(ids.size).toBe(all.events.length)
  for (const { event_id } of acknowledged.events) expect(ids).toContain(event_id)
  expect(new Set(published(all).map(({ token }) => token)).size).toBe(1000)
  const records = await pull(after)
  expect(records.filter(({ sent_at }) => sent_at !== null)).toHaveLength(SENT)

  const processes = await processTree(sandbox.child.pid!)
  await sandbox.kill()
  await eventually(
    () => runningOf(processes),
    (left) => left.length === 0,
  )
})

it("runs with Node 20, which downloads the required tools, and reports if types can't be stripped", () => {
  // This test's environment already contains the tools.
  const { OUTREACH_TOOLS_FOUND: _, ...env } = process.env
  const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"))
  expect(scripts).toMatchObject(
    Object.fromEntries(["start", "ops", "webhook"].map((name) => [name, expect.stringMatching(/^node run\.js /)])),
  )
  const run = (...command: [string, ...string[]]) =>
    spawnSync(command[0], [...command.slice(1), ...scripts.start.split(" ").slice(1), "--help"], {
      cwd: REPOSITORY,
      encoding: "utf8",
      env,
    })
  expect(run("npx", "-y", "-p", "node@20", "node")).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("--help"),
  })
  expect(run(process.execPath, "--no-strip-types")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^This runs TypeScript, which --no-strip-types forbids here.*\n$/),
  })
})
