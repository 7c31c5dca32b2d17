import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findUnpacked } from "@outreach/debian-packages/findProgram"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { SESSION_SETTINGS, STARTUP_SETTINGS } from "@outreach/postgres-connection/sessionSettings"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { reservePort } from "@outreach/testing/reservePort"
import { Client } from "pg"
import { afterAll, beforeAll, expect, it } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { expectJourney } from "./journey.ts"
import { startPgBouncer } from "./startPgBouncer.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")
const RECIPIENTS = 300
/** As many as PgBouncer has for the role; two workers listen beside it, past it. */
const SERVER_CONNECTIONS = 4 + 2

let folder: string
let database: Awaited<ReturnType<typeof startPostgres>>
let admin: Client
let pgBouncer: ReturnType<typeof findUnpacked>
beforeAll(async () => {
  pgBouncer = findUnpacked("pgbouncer")
  folder = await mkdtemp(join(tmpdir(), "outreach-pooler-"))
  await buildArtifact(folder)
  database = await startPostgres()
  admin = new Client({ connectionString: database.url })
  await admin.connect()
})
afterAll(async () => {
  await admin?.end()
  await database?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

/** Creates a role with a database of its own; returns the database's address. */
const createDatabase = async (name: string): Promise<string> => {
  await admin.query(`create role ${name} login password 'hunter2'`)
  await admin.query(`create database ${name} owner ${name}`)
  return Object.assign(new URL(database.url), { username: name, password: "hunter2", pathname: `/${name}` }).href
}

/** Gives a role the settings that a pooler does not pass on. */
const giveSettings = async (role: string) => {
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
    await admin.query(`alter role ${role} set ${name} = '${value}'`)
  }
}

const artifact = (settings: Readonly<Record<string, string>>) =>
  artifactIn(folder, () => ({
    SECRETS_KEY: KEY,
    CURSOR_KEY: KEY,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    SHUTDOWN_DELAY_SECONDS: "0",
    PORT: "0",
    MAIL_FROM: "outreach@acme.test",
    SMTP_URL: "smtp://127.0.0.1:1",
    ...settings,
  }))

const reasonOf = async (url: string) => ((await (await fetch(`${url}/readyz`)).json()) as { reason?: string }).reason

it("takes a campaign from import to the pull API through PgBouncer in transaction mode", async ({ skip }) => {
  if ("missing" in pgBouncer) return skip(pgBouncer.missing)
  const direct = await createDatabase("journey")
  await giveSettings("journey")
  const pooled = await startPgBouncer(pgBouncer.folder, direct)
  const mail = await mailServer()
  const PORT = String(await reservePort())
  const { ops, opsJson, start } = artifact({
    PORT,
    PUBLIC_BASE_URL: `http://127.0.0.1:${PORT}`,
    DATABASE_URL: pooled,
    DATABASE_POOLER: "transaction",
    DATABASE_LISTEN_URL: direct,
    SMTP_URL: mail.url,
  })

  await ops("migrate")
  const adminPort = await reservePort()
  const api = await start("api", "listening")
  const workers = [
    await start("worker", "worker started", { ADMIN_PORT: String(adminPort) }),
    await start("worker", "worker started", { DATABASE_CONNECTIONS: "2" }),
  ]
  expect(await reasonOf(api.annotations.url)).toBeUndefined()
  await eventually(
    () => fetch(`http://127.0.0.1:${adminPort}/readyz`),
    ({ status }) => status === 200,
  )

  // Through few connections of the server, though the processes have more to the pooler.
  let mostConnections = 0
  const observe = async () => {
    const { rows } = await admin.query("select count(*)::int from pg_stat_activity where usename = 'journey'")
    mostConnections = Math.max(mostConnections, rows[0].count)
  }
  await expectJourney({ opsJson, apiUrl: api.annotations.url, mail, folder, recipients: RECIPIENTS, observe })

  expect(mostConnections).toBeLessThanOrEqual(SERVER_CONNECTIONS)
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  expect(Number(/^outreach_hints_heard_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0)
  expect([await api.stop(), ...(await Promise.all(workers.map((worker) => worker.stop())))]).toEqual([0, 0, 0])
})

it("says what is wrong when the settings do not fit the pooler", async ({ skip }) => {
  if ("missing" in pgBouncer) return skip(pgBouncer.missing)
  const direct = await createDatabase("mistakes")
  await artifact({ DATABASE_URL: direct }).ops("migrate")
  const refusing = await startPgBouncer(pgBouncer.folder, direct)
  const names = [...Object.keys(STARTUP_SETTINGS), "lock_timeout"].join(", ")
  const dropping = await startPgBouncer(pgBouncer.folder, direct, `ignore_startup_parameters = ${names}`)
  const failureOf = async (settings: Readonly<Record<string, string>>, command: string) => {
    const error = await artifact(settings)
      .ops(...command.split(" "))
      .catch((error) => error)
    return String(error.stderr)
  }

  const refused =
    /^No connection to the database of DATABASE_URL: a pooler refuses settings of the session; set DATABASE_POOLER/
  expect(await failureOf({ DATABASE_URL: refusing }, "organizations list")).toMatch(refused)
  const dropped = /: a pooler drops settings of the session \(.*statement_timeout.*\); set DATABASE_POOLER/
  expect(await failureOf({ DATABASE_URL: dropping }, "organizations list")).toMatch(dropped)
  for (const [DATABASE_URL, reason] of [
    [refusing, /^a pooler refuses settings/],
    [dropping, /^a pooler drops settings/],
  ] as const) {
    const api = await artifact({ DATABASE_URL }).start("api", "listening")
    expect(await reasonOf(api.annotations.url)).toMatch(reason)
  }

  const transaction = { DATABASE_URL: refusing, DATABASE_POOLER: "transaction" }
  expect(await failureOf(transaction, "organizations list")).toMatch(/DATABASE_LISTEN_URL must be the address/)
  for (const DATABASE_LISTEN_URL of [refusing, dropping]) {
    const sentence = /^A pooler stands between the migration and the database, and keeps no session\./
    expect(await failureOf({ ...transaction, DATABASE_LISTEN_URL }, "migrate")).toMatch(sentence)
  }
  const misled = { ...transaction, DATABASE_LISTEN_URL: dropping }
  await (await artifact(misled).start("worker", "worker started")).waitFor(
    "a pooler stands where notifications are listened for, so some may be lost",
  )
})

it.each([
  ["etc", "Etc/UTC"],
  ["berlin", "Europe/Berlin"],
])(
  "is ready without a restart once the role has its settings and PgBouncer connects anew, on a server in %s",
  async (name, zone) => {
    if ("missing" in pgBouncer) return
    const direct = await createDatabase(name)
    await admin.query(`alter database ${name} set timezone = '${zone}'`)
    const pooled = await startPgBouncer(pgBouncer.folder, direct, `admin_users = ${name}`)
    const adminPort = String(await reservePort())
    const { ops, start } = artifact({
      DATABASE_URL: pooled,
      DATABASE_POOLER: "transaction",
      DATABASE_LISTEN_URL: direct,
    })
    await ops("migrate")
    const api = await start("api", "listening")
    const worker = await start("worker", "worker started", { ADMIN_PORT: adminPort })
    const urls = [api.annotations.url, `http://127.0.0.1:${adminPort}`]
    const readiness = (url: string) =>
      fetch(`${url}/readyz`).then(
        (response) => response.text(),
        () => "no response",
      )
    const reasons = () => Promise.all(urls.map(readiness))
    const lacking = /the role of DATABASE_URL lacks settings .*statement_timeout/
    await eventually(reasons, (found) => found.every((reason) => lacking.test(reason)))

    await giveSettings(name)
    const console = new Client({ connectionString: Object.assign(new URL(pooled), { pathname: "/pgbouncer" }).href })
    await console.connect()
    await console.query("RECONNECT")
    await console.end()
    await eventually(reasons, (found) => found.every((reason) => /^ready|"ready"/.test(reason)))
    expect([await api.stop(), await worker.stop()]).toEqual([0, 0])
  },
)
