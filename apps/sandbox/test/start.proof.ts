import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { childrenOf, commandLine, isRunning, processToken } from "@outreach/embedded-postgres/processToken"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { expect, it, onTestFinished } from "vitest"
import type { Behavior } from "../src/behaviorOf.ts"
import { REPOSITORY } from "./artifact.ts"
import { published, type Received, received } from "./receivedEvents.ts"
import { isRefused, runSandbox, writeRecipients } from "./runSandbox.ts"

/** Lists the tokens of a process and all its descendants. A token starts with the pid. */
const processTree = async (pid: number): Promise<ReadonlyArray<string>> => {
  const children = await childrenOf(pid).catch(() => [])
  const below = await Promise.all(children.map(processTree))
  return [(await processToken(pid)) ?? [], ...below].flat()
}

const runningOf = async (tokens: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const running = await Promise.all(tokens.map(isRunning))
  return tokens.filter((_, index) => running[index])
}

const bounces = (behavior: Behavior) => behavior.bounces
const isQuiet = ({ bounces, scanned, opens }: Behavior) => !(bounces || scanned || opens)
/** Output of a sandbox after these e-mails were sent. */
const MAILED = /published 3 of 3 · sent 2 .* bounced 1/
const QUIET_RECIPIENTS = [isQuiet, isQuiet, bounces]

const sentIn = ({ events }: Received) =>
  events.flatMap(({ event_type, event_id }) => (event_type === "outreach.email_sent" ? [event_id] : [])).sort()

it.each([
  ["Windows", "Object.defineProperty(process,'platform',{value:'win32'})", "for win32", "$env:DATABASE_URL = "],
  ["Alpine", "process.report.getReport=()=>({header:{}})", "as Alpine does", "export DATABASE_URL="],
])("says on %s how to start a PostgreSQL, and ends", async (_, stub, cause, line) => {
  const environment = { NODE_OPTIONS: `--import=data:text/javascript,${stub}` }
  const sandbox = runSandbox(temporaryFolder("start"), { environment })
  expect(await sandbox.ended).toBe(1)
  expect(sandbox.output()).toMatch(/^No embedded PostgreSQL runs here: .+\n\n {2}docker run .+\n.+\n$/)
  expect(sandbox.output()).toContain(cause)
  expect(sandbox.output()).toContain(`\n  ${line}`)
})

it.each([
  [
    "away",
    "postgres://me:hunter2@127.0.0.1:1/outreach",
    /^No connection to the database of DATABASE_URL: nothing listens .+ \(ECONNREFUSED\)\.\n$/,
  ],
  ["malformed", "https://127.0.0.1/outreach", /^DATABASE_URL is malformed[^\n]+\n$/],
])("ends with one sentence where the database of DATABASE_URL is %s", async (_, DATABASE_URL, sentence) => {
  const sandbox = runSandbox(temporaryFolder("start"), { environment: { DATABASE_URL } })
  expect(await sandbox.ended).toBe(1)
  expect(sandbox.output()).toMatch(sentence)
})

it("exits with the last output of a service that has invalid settings", async () => {
  const sandbox = runSandbox(temporaryFolder("start"), { environment: { LOG_LEVEL: "loud" } })
  expect(await sandbox.ended).toBe(1)
  expect(sandbox.output()).toMatch(/The (API|worker|console) has ended\. Its last output.*\nLOG_LEVEL is malformed\./)
})

it("restarts a killed worker, stops completely on Ctrl-C, continues an earlier run, and starts from scratch with --fresh", async () => {
  const folder = temporaryFolder("start")
  const args = ["--recipients", await writeRecipients(folder, QUIET_RECIPIENTS)]
  const first = runSandbox(folder, { args })
  const before = await first.addresses()
  await first.shows(MAILED)
  for (const token of await processTree(first.child.pid!)) {
    const pid = Number.parseInt(token, 10)
    if ((await commandLine(pid)).includes("worker/src/main.ts")) process.kill(pid, "SIGKILL")
  }
  await first.shows(/^worker ended \(SIGKILL\), restarted$/m)
  const processes = await processTree(first.child.pid!)
  // The sandbox, its database supervisor, the API, the worker and the console.
  expect(processes.length).toBeGreaterThanOrEqual(5)
  expect(await first.kill("SIGINT")).toBe(0)
  expect(await runningOf(processes)).toEqual([])
  // The database server isn't in the process tree.
  expect(await isRefused(before.database_url)).toBe(true)
  expect(existsSync(join(folder, "sandbox.json"))).toBe(false)
  expect(first.output()).not.toContain("This continues an earlier run")

  const second = runSandbox(folder, { args })
  await second.addresses()
  expect(second.output()).toContain("This continues an earlier run. The mail catcher begins empty")
  await second.kill()

  const third = runSandbox(folder, { args: [...args, "--fresh"] })
  const after = await third.addresses()
  await third.shows(MAILED)
  expect(after.organization_id).not.toBe(before.organization_id)
  const all = await received(after)
  expect(published(all)).toHaveLength(3)
  expect(new Set(all.events.map((event) => event.data["service_campaign_id"]))).toEqual(new Set([after.campaign_id]))
})

it("uses the database of DATABASE_URL, pulls events that no webhook has brought, and keeps its folder to that database", async () => {
  const { url, stop } = await startPostgres()
  onTestFinished(stop)
  const folder = temporaryFolder("start")
  const args = ["--recipients", await writeRecipients(folder, QUIET_RECIPIENTS)]
  const environment = { DATABASE_URL: url }
  const first = runSandbox(folder, { args, environment })
  const addresses = await first.addresses()
  expect(addresses.database_url).toBe(url)
  const before = await eventually(
    () => received(addresses),
    (now) => sentIn(now).length === 2,
  )
  expect(await first.kill("SIGTERM")).toBe(0)
  await withClient(url, (client) => client.query("drop schema sample_partner cascade"))

  const second = runSandbox(folder, { args, environment })
  const pulling = await second.addresses()
  const after = await eventually(
    () => received(pulling),
    (now) => sentIn(now).length === 2,
  )
  expect(sentIn(after)).toEqual(sentIn(before))
  expect(after.counts["outreach.email_sent"]).toBeUndefined()
  expect(await second.kill("SIGTERM")).toBe(0)

  const fresh = runSandbox(folder, { args: ["--fresh"], environment })
  expect(await fresh.ended).toBe(1)
  expect(fresh.output()).toContain("--fresh would drop the database of DATABASE_URL")
  const own = runSandbox(folder)
  expect(await own.ended).toBe(1)
  expect(own.output()).toContain(`${folder} was made with the database 127.0.0.1:`)

  await withClient(url, (client) =>
    client.query("update migrations set checksum = 'of another baseline' where file = 'migrations/0001_baseline.sql'"),
  )
  const mismatched = runSandbox(folder, { args, environment })
  expect(await mismatched.ended).toBe(1)
  expect(mismatched.output()).toMatch(
    /^migrations\/0001_baseline.sql was changed [^\n]+ start it with `--fresh` or with a new `--folder`\.\n$/,
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
