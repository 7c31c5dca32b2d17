import { existsSync } from "node:fs"
import { join } from "node:path"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { eventually } from "@outreach/testing/eventually"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { Pool } from "pg"
import { expect, it, onTestFinished } from "vitest"
import { published, type Received, received, sentCount } from "./receivedEvents.ts"
import { runSandbox, sandboxFolder } from "./runSandbox.ts"

it("ends with one sentence where its port is in use or its folder is held", async () => {
  const folder = await sandboxFolder()
  const host = loopbackAddress()
  const first = runSandbox(["--folder", folder, "--host", host])
  await first.addresses(folder)

  const other = runSandbox(["--folder", await sandboxFolder(), "--host", host])
  expect(await other.ended).toBe(1)
  expect(other.output()).toBe(`Port 8080 is in use; free it, or choose another with --port.\n`)

  const same = runSandbox(["--folder", folder, "--fresh"])
  expect(await same.ended).toBe(1)
  expect(same.output()).toContain(`A sandbox runs on ${folder} already`)
  expect(existsSync(join(folder, "sandbox.json"))).toBe(true)
  first.kill("SIGTERM")
  expect(await first.ended).toBe(0)
})

it.each([
  ["Windows", "Object.defineProperty(process,'platform',{value:'win32'})", "for Windows", "$env:DATABASE_URL = "],
  ["Alpine", "process.report.getReport=()=>({header:{}})", "as Alpine does", "DATABASE_URL="],
])("says on %s how to start a PostgreSQL, and ends", async (_, stub, cause, line) => {
  const args = ["--folder", await sandboxFolder(), "--host", loopbackAddress()]
  const sandbox = runSandbox(args, { NODE_OPTIONS: `--import=data:text/javascript,${stub}` })
  expect(await sandbox.ended).toBe(1)
  expect(sandbox.output()).toMatch(/^No embedded PostgreSQL runs here: .+\n\n {2}docker run .+\n.+ npm start\n$/)
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
  const args = ["--folder", await sandboxFolder(), "--host", loopbackAddress()]
  const sandbox = runSandbox(args, { DATABASE_URL })
  expect(await sandbox.ended).toBe(1)
  expect(sandbox.output()).toMatch(sentence)
})

it("ends with one sentence where another baseline made the database, and names the way out", async () => {
  const { url, stop } = await startPostgres()
  onTestFinished(stop)
  const pool = new Pool({ connectionString: url })
  await pool.query("create table migrations (file text primary key, checksum text not null, applied_at timestamptz)")
  await pool.query("insert into migrations values ('migrations/0001_baseline.sql', 'of another baseline')")
  await pool.end()
  const args = ["--folder", await sandboxFolder(), "--host", loopbackAddress()]
  const sandbox = runSandbox(args, { DATABASE_URL: url })
  expect(await sandbox.ended).toBe(1)
  expect(sandbox.output()).toMatch(
    /^Nothing was changed: the database was made before the baseline [^\n]+ `npm start -- --fresh` or name a new `--folder`\.\n$/,
  )
})

it("ends with the last output of a service whose settings are wrong", async () => {
  const args = ["--folder", await sandboxFolder(), "--host", loopbackAddress()]
  const refused = runSandbox(args, { LOG_LEVEL: "loud" })
  expect(await refused.ended).toBe(1)
  expect(refused.output()).toMatch(/The (API|worker) has ended\. Its last output.*\nLOG_LEVEL is malformed\./)
})

it("begins anew with --fresh", async () => {
  const folder = await sandboxFolder()
  const args = ["--folder", folder, "--host", loopbackAddress()]
  const first = runSandbox(args)
  const before = await first.addresses(folder)
  await eventually(
    () => received(before),
    (now) => published(now).length === 1000,
    240_000,
  )
  first.kill("SIGKILL")
  await first.ended

  const second = runSandbox([...args, "--fresh"])
  const after = await eventually(
    () => second.addresses(folder),
    ({ organization_id }) => organization_id !== before.organization_id,
  )
  const all = await eventually(
    () => received(after),
    (now) => published(now).length === 1000,
    240_000,
  )
  const campaigns = all.events.map((event) => event.data["service_campaign_id"])
  expect(new Set(campaigns)).toEqual(new Set([after.campaign_id]))
})

const sentIn = ({ events }: Received) =>
  events.flatMap(({ event_type, event_id }) => (event_type === "outreach.email_sent" ? [event_id] : [])).sort()

it("lets the sample partner pull what no webhook has brought", async () => {
  const { url, stop } = await startPostgres()
  onTestFinished(stop)
  const folder = await sandboxFolder()
  const args = ["--folder", folder, "--host", loopbackAddress()]
  const first = runSandbox(args, { DATABASE_URL: url })
  const addresses = await first.addresses(folder)
  const before = await eventually(
    () => received(addresses),
    (now) => sentCount(now) === 982,
    240_000,
  )
  first.kill("SIGTERM")
  await first.ended
  const pool = new Pool({ connectionString: url })
  await pool.query("drop schema sample_partner cascade")
  await pool.end()

  const second = runSandbox(args, { DATABASE_URL: url })
  const after = await eventually(
    async () => received(await second.addresses(folder)),
    (now) => sentIn(now).length === 982,
    240_000,
  )
  expect(sentIn(after)).toEqual(sentIn(before))
  expect(after.counts["outreach.email_sent"]).toBeUndefined()
})

it("uses the database of DATABASE_URL, never drops it, and keeps its folder to it", async () => {
  const { url, stop } = await startPostgres()
  onTestFinished(stop)
  const folder = await sandboxFolder()
  const args = ["--folder", folder, "--host", loopbackAddress()]
  const sandbox = runSandbox(args, { DATABASE_URL: url })
  const addresses = await sandbox.addresses(folder)
  expect(addresses.database_url).toBe(url)
  await eventually(
    () => received(addresses),
    (now) => published(now).length === 1000,
    240_000,
  )
  sandbox.kill("SIGTERM")
  expect(await sandbox.ended).toBe(0)

  const fresh = runSandbox([...args, "--fresh"], { DATABASE_URL: url })
  expect(await fresh.ended).toBe(1)
  expect(fresh.output()).toContain("--fresh would drop the database of DATABASE_URL")
  const own = runSandbox(args)
  expect(await own.ended).toBe(1)
  expect(own.output()).toContain(`${folder} was made with the database 127.0.0.1:`)
})
