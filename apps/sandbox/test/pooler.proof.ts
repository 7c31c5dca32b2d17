import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@outreach/client"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { SESSION_SETTINGS } from "@outreach/postgres/sessionSettings"
import { eventually } from "@outreach/testing/eventually"
import { freePort } from "@outreach/testing/freePort"
import { listen } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { email, npi } from "@outreach/testing/seedCampaign"
import { createWebhookVerifier } from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/node"
import { sampleEvent } from "@outreach/webhook-verifier/testing"
import { Client } from "pg"
import PostalMime from "postal-mime"
import { afterAll, beforeAll, expect, it } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { findPgBouncer, startPgBouncer } from "./startPgBouncer.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")
const RECIPIENTS = 300
/** As many as PgBouncer has for the role; two workers listen beside it, past it. */
const SERVER_CONNECTIONS = 4 + 2

let folder: string
let database: Awaited<ReturnType<typeof startPostgres>>
let admin: Client
let pgBouncer: Awaited<ReturnType<typeof findPgBouncer>>
beforeAll(async () => {
  pgBouncer = await findPgBouncer()
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
  const PORT = String(await freePort())
  const { ops, opsJson, start } = artifact({
    PORT,
    PUBLIC_BASE_URL: `http://127.0.0.1:${PORT}`,
    DATABASE_URL: pooled,
    DATABASE_POOLER: "transaction",
    DATABASE_LISTEN_URL: direct,
    SMTP_URL: mail.url,
  })

  await ops("migrate")
  const { id } = await opsJson("organizations", "create", "--name", "Acme")
  const ofAcme = ["--organization", id]
  const scopes = "tokens:read,events:read"
  const { api_key } = await opsJson("keys", "issue", ...ofAcme, "--name", "x", "--scopes", scopes)
  const { signing_secret } = await opsJson("secrets", "rotate", ...ofAcme)
  const delivered = new Map<string, string>()
  const partner = createServer(
    webhookHandler(createWebhookVerifier({ secrets: [signing_secret] }), ({ event_id, event_type }) => {
      delivered.set(event_id, String(event_type))
    }),
  )
  const partnerUrl = `http://127.0.0.1:${await listen(partner)}/`
  const endpoint = await opsJson("endpoints", "create", ...ofAcme, "--url", partnerUrl)
  const program = await opsJson("programs", "create", ...ofAcme, "--slug", "x", "--name", "X")

  const adminPort = await freePort()
  const api = await start("api", "listening")
  const workers = [
    await start("worker", "worker started", { ADMIN_PORT: String(adminPort) }),
    await start("worker", "worker started", { DATABASE_CONNECTIONS: "2" }),
  ]
  const client = createClient({ apiKey: api_key, baseUrl: api.annotations.url, retryDelays: [] })
  expect(await reasonOf(api.annotations.url)).toBeUndefined()
  await eventually(
    () => fetch(`http://127.0.0.1:${adminPort}/readyz`),
    ({ status }) => status === 200,
  )

  await writeFile(join(folder, "mail.html"), '<p><a href="https://partner.test/?t={{ token }}">Begin</a></p>')
  const lines = Array.from({ length: RECIPIENTS }, (_, n) => `${npi(n)},${email(n)}\n`)
  await writeFile(join(folder, "clinicians.csv"), `npi,email\n${lines.join("")}`)
  const campaign = await opsJson(
    ...["campaigns", "create", "--program", program.id, "--name", "x", "--subject", "x"],
    ...["--html", join(folder, "mail.html")],
    ...["--window-start", "2026-01-01T00:00:00Z", "--window-end", "2099-01-02T00:00:00Z"],
  )
  await opsJson("recipients", "import", "--campaign", campaign.id, join(folder, "clinicians.csv"))
  await opsJson("campaigns", "schedule", campaign.id)

  // Through few connections of the server, though the processes have more to the pooler.
  let mostConnections = 0
  const count = async (type: string) => {
    const { rows } = await admin.query("select count(*)::int from pg_stat_activity where usename = 'journey'")
    mostConnections = Math.max(mostConnections, rows[0].count)
    return [...delivered.values()].filter((each) => each === type).length
  }
  await eventually(
    () => count("outreach.email_sent"),
    (sent) => sent === RECIPIENTS,
    300_000,
  )
  expect(mail.messages).toHaveLength(RECIPIENTS)

  // All at once, so that requests share connections.
  const headers = { "User-Agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" }
  const statuses = await Promise.all(
    mail.messages.map(async ({ text }) => {
      const { html = "" } = await PostalMime.parse(text)
      const pixel = await fetch(/<img src="([^"]+)"/.exec(html)![1]!, { headers })
      const click = await fetch(/href="(http[^"]+)"/.exec(html)![1]!, { headers, redirect: "manual" })
      return [pixel.status, click.status]
    }),
  )
  expect(statuses).toEqual(Array.from({ length: RECIPIENTS }, () => [200, 302]))
  for (const type of ["outreach.email_opened", "outreach.email_clicked"]) {
    await eventually(
      () => count(type),
      (hits) => hits === RECIPIENTS,
      300_000,
    )
  }

  await Promise.all(
    Array.from({ length: 50 }, (_, n) => {
      const event = sampleEvent("clinician.account_created")
      const data = { ...event.data, npi: npi(n), email: email(n), consumer_program_slug: "x" }
      return client.sendEvent(endpoint.id, { ...event, data }, { secrets: [signing_secret] })
    }),
  )
  await eventually(
    () => opsJson("inbox", "list", ...ofAcme, "--waiting"),
    ({ data }) => data.length === 0,
  )
  const date = new Date().toISOString().slice(0, 10)
  const digest = await opsJson("digest", "show", ...ofAcme, "--date", date)
  expect(digest.data).toMatchObject([{ funnel: { cumulative: { account_created: 50 } } }])

  const records = []
  for await (const record of client.listTokens({ since: "2026-01-01T00:00:00Z" })) records.push(record)
  expect(records.filter(({ sent_at }) => sent_at !== null)).toHaveLength(RECIPIENTS)
  const pulled = new Set<string>()
  for await (const { event_id } of client.listEvents({ since: "2026-01-01T00:00:00Z" })) pulled.add(event_id)
  expect(pulled.size).toBe(3 * RECIPIENTS)

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
  const names = [...Object.keys(SESSION_SETTINGS), "lock_timeout"].join(", ")
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

  const api = await artifact({ ...transaction, DATABASE_LISTEN_URL: direct }).start("api", "listening")
  expect(await reasonOf(api.annotations.url)).toMatch(/^the role of DATABASE_URL lacks settings .*statement_timeout/)
})
