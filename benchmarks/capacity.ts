import { type ChildProcess, fork, spawn } from "node:child_process"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { cpus } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { eventExamples } from "@outreach/contract"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { PARTITIONED_TABLES } from "@outreach/postgres/Partitions"
import { adaptersFor, SECRETS_KEY, SECRETS_RING } from "@outreach/testing/adaptersFor"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { asRole, migrateWithRoles } from "@outreach/testing/testRoles"
import { Effect, Layer, Redacted, References } from "effect"
import postgres from "postgres"
import { Pool } from "undici"
import { measureTables } from "./capacity/measureTables.ts"
import { PARTS, reportSteps, reportTables, type Usage } from "./capacity/report.ts"
import { cpuTime, parentOf } from "./cpuTime.ts"
import { startReceiver } from "./delivery/startReceiver.ts"
import { htmlFor, TEMPLATE } from "./email/message.ts"
import { startServer } from "./startServer.ts"
import { waitFor } from "./waitFor.ts"

// Measures what one recipient costs from the import to the last delivery: CPU time of each process, write-ahead log, and bytes on disk.

const { values } = parseArgs({
  options: { recipients: { type: "string", default: "3000" }, rounds: { type: "string", default: "3" } },
})
const [RECIPIENTS, ROUNDS] = [Number(values.recipients), Number(values.rounds)]
const IMPORT_BATCH_SIZE = 500
const PAGE_SIZE = 100
/** The number of times that a round reads each list: a single pass is too short for the clock's 10 ms resolution. */
const LIST_READS = 10
const CONNECTIONS = 16
const POLL_MS = 100
const SINCE = "2020-01-01T00:00:00Z"

const server = await startPostgres({
  durable: true,
  settings: { shared_buffers: "1GB", max_wal_size: "16GB", checkpoint_timeout: "1h" },
})
const sql = postgres(server.url, { max: 1, onnotice: () => {} })
const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }]
const postmaster = parentOf(pid)
const run = <A>(effect: Effect.Effect<A, unknown, Layer.Success<typeof layer>>) =>
  Effect.runPromise(effect.pipe(Effect.provide(layer), Effect.provideService(References.MinimumLogLevel, "None")))
const layer = adaptersFor(server.url)
await run(migrateWithRoles as Effect.Effect<unknown, unknown, Layer.Success<typeof layer>>)
// Workers add the partitions within a minute after their start, and would move rows of the first rounds into them.
for (const table of PARTITIONED_TABLES) await sql`select from keep_partitions(${table})`

const catcher = fork(fileURLToPath(import.meta.resolve("./email/catcher.ts")))
const [{ port: smtpPort }] = (await once(catcher, "message")) as [{ port: number }]
const partner = await startReceiver()
const api = await startServer("ours", asRole(server.url, "api"))
const worker = startWorker()
const http = new Pool(api.url, { connections: CONNECTIONS, pipelining: 1 })
const links = await Effect.runPromise(
  Effect.provide(
    Effect.map(TrackingLinks, (it) => it),
    TrackingLinks.below(api.url).pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING))),
  ),
)

console.log(`Node ${process.version}, PostgreSQL 18, ${cpus().length} × ${cpus()[0]!.model}`)
console.log(`${RECIPIENTS} recipients a round, ${ROUNDS} rounds after a warm-up round\n`)
const rounds: ReadonlyMap<string, Usage>[] = []
for (let round = 0; round <= ROUNDS; round++) {
  const measured = await measureRound()
  if (round > 0) rounds.push(measured)
}
reportSteps(rounds)
const journeys = RECIPIENTS * (ROUNDS + 1)
reportTables(await measureTables(sql, journeys / 10), journeys)

await http.close()
worker.kill("SIGKILL")
catcher.disconnect()
partner.stop()
await api.stop()
await sql.end()
await server.stop()

/** Takes the recipients of a new organization through their whole journey; returns the usage of each step for one recipient, delivery or request. */
async function measureRound(): Promise<ReadonlyMap<string, Usage>> {
  const steps = new Map<string, Usage>()
  const step = async (name: string, units: number, work: () => Promise<unknown>) => {
    const before = await readUsage()
    await work()
    const after = await readUsage()
    const usage = { ...after }
    for (const part of PARTS) usage[part] = (after[part] - before[part]) / units
    steps.set(name, usage)
  }

  const { organization, secret, endpoint, campaign, keys } = await run(
    Effect.gen(function* () {
      const seeded = yield* seedCampaign({ recipients: 0, endpointUrl: partner.url, opensIn: 86_400 })
      const scopes = ["tokens:read", "events:read"] as const
      const key = { organizationId: seeded.organization.id, name: "capacity", scopes, expiresAt: null }
      // Used in turn, no key exceeds its 100 requests a minute.
      const issued = yield* Effect.forEach(Array.from({ length: 20 + RECIPIENTS / 40 }), () => issueKey(key))
      // Events wait until their deliveries are measured.
      yield* (yield* EndpointRepository).disable(seeded.endpoint.id)
      return { ...seeded, keys: issued.map(({ text }) => Redacted.value(text)) }
    }),
  )
  const [organizationId, id] = [organization.id, campaign.id]
  const html = htmlFor({ ...TEMPLATE, first_name: "Ana", last_name: "Abara", specialty: "medicine" })
  await sql`update campaigns set html = ${html} where id = ${id}`
  await partner.reset()

  await step("import", RECIPIENTS, () => importAll(id))
  const opens = Date.now() + 5000 + RECIPIENTS * 2
  await sql`update campaigns set window_start = ${new Date(opens)} where id = ${id}`
  await step("publication", RECIPIENTS, async () => {
    await run(scheduleCampaign(id))
    await until(() =>
      isEmpty(sql`select from recipients where organization_id = ${organizationId} and published_at is null limit 1`),
    )
  })
  const caught = await countCaught()
  await sleep(Math.max(0, opens - Date.now() - POLL_MS))
  await step("e-mail", RECIPIENTS, async () => {
    await until(async () => (await countCaught()) - caught >= RECIPIENTS)
    await until(() => isEmpty(sql`select from messages where organization_id = ${organizationId} limit 1`))
  })

  const recipients = await sql<{ id: RecipientId; token: string; npi: string; email: string }[]>`
    select id, token, npi, email from recipients where organization_id = ${organizationId} order by md5(id)`
  const refs = recipients.map((recipient) => ({ organizationId, recipientId: recipient.id }))
  await step("open", RECIPIENTS, () =>
    hitAll(
      organizationId,
      refs.map((ref) => links.open(ref)),
      200,
    ),
  )
  await step("click", RECIPIENTS, () =>
    hitAll(
      organizationId,
      refs.map((ref) => links.click(ref, "https://partner.test/welcome")!),
      302,
    ),
  )
  await step("inbound event", RECIPIENTS, async () => {
    const path = `/v1/partners/consumer/webhooks/${endpoint.id}`
    await each(recipients, (recipient, i) => postEvent(path, Redacted.value(secret), recipient, i))
    await until(() =>
      isEmpty(sql`
        select from inbox where organization_id = ${organizationId} and applied_at is null and quarantined_at is null limit 1`),
    )
  })
  const [counted] = await sql<{ events: number; rejected: number }[]>`
    select count(*)::int as events, (select count(*)::int from inbox where quarantined_at is not null) as rejected
    from events where organization_id = ${organizationId}`
  if (counted!.rejected > 0) throw new Error(`${counted!.rejected} inbound events were quarantined.`)
  await step("delivery", counted!.events, async () => {
    await run(Effect.flatMap(EndpointRepository, (endpoints) => endpoints.enable(endpoint.id)))
    await until(async () => (await partner.count()) >= counted!.events)
    await until(() =>
      isEmpty(sql`select from reader_positions where endpoint_id = ${endpoint.id} and cardinality(open) > 0`),
    )
  })

  let turn = 0
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${keys[turn++ % keys.length]}` }
    const { statusCode, body } = await http.request({ method: "GET", path, headers })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}: ${text}`)
    return text
  }
  await step("look-up", RECIPIENTS, () => each(recipients, ({ token }) => get(`/v1/partners/consumer/tokens/${token}`)))
  const readList = async (list: string) => {
    let cursor: string | null = null
    do {
      const at: string = cursor === null ? "" : `&cursor=${cursor}`
      const page: { next_cursor: string | null } = JSON.parse(
        await get(`/v1/partners/consumer/${list}?since=${SINCE}&limit=${PAGE_SIZE}${at}`),
      )
      cursor = page.next_cursor
    } while (cursor !== null)
  }
  const readLists = (list: string) => Promise.all(Array.from({ length: LIST_READS }, () => readList(list)))
  await step("page of 100 recipients", LIST_READS * Math.ceil(RECIPIENTS / PAGE_SIZE), () => readLists("tokens"))
  await step("page of 100 events", LIST_READS * Math.ceil((3 * RECIPIENTS) / PAGE_SIZE), () => readLists("events"))
  await step("vacuum and checkpoint", RECIPIENTS, async () => {
    await sql`vacuum`
    await sql`checkpoint`
  })
  await step("idle second", 3, () => sleep(3000))
  return withJourney(steps, counted!.events / RECIPIENTS)
}

/** Adds the journey of one recipient: its steps, its deliveries, one look-up, and its share of the list pages. */
function withJourney(steps: Map<string, Usage>, deliveries: number): ReadonlyMap<string, Usage> {
  const times = {
    import: 1,
    publication: 1,
    "e-mail": 1,
    open: 1,
    click: 1,
    "inbound event": 1,
    delivery: deliveries,
    "look-up": 1,
    "page of 100 recipients": 1 / PAGE_SIZE,
    "page of 100 events": 3 / PAGE_SIZE,
    "vacuum and checkpoint": 1,
  }
  const total: Usage = { importer: steps.get("import")!.importer, api: 0, worker: 0, postgres: 0, wal: 0 }
  for (const [name, count] of Object.entries(times)) {
    for (const part of PARTS) if (part !== "importer") total[part] += count * steps.get(name)![part]
  }
  return steps.set("whole journey", total)
}

async function importAll(campaignId: Parameters<typeof importLines>[0]): Promise<void> {
  const lines = Array.from({ length: RECIPIENTS }, (_, i) => ({ number: i + 2, npi: npi(i), email: email(i) }))
  for (let i = 0; i < lines.length; i += IMPORT_BATCH_SIZE) {
    await run(importLines(campaignId, lines.slice(i, i + IMPORT_BATCH_SIZE)))
  }
}

/** Opens tracked links like mail clients, and waits until the hits are classified. */
async function hitAll(organizationId: OrganizationId, urls: readonly string[], status: number): Promise<void> {
  const count = async () => {
    const [row] = await sql<{ hits: number }[]>`
      select count(*)::int as hits from hits where organization_id = ${organizationId} and judged_at is not null`
    return row!.hits
  }
  const before = await count()
  const headers = {
    "user-agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
    accept: "image/webp,image/avif,*/*;q=0.8",
    "accept-language": "en-US,en;q=0.9",
  }
  await each(urls, async (url) => {
    const { statusCode, body } = await http.request({ method: "GET", path: new URL(url).pathname, headers })
    await body.dump()
    if (statusCode !== status) throw new Error(`a tracked link returned ${statusCode}`)
  })
  await until(async () => (await count()) - before >= urls.length)
}

async function postEvent(
  path: string,
  secret: string,
  recipient: { readonly id: string; readonly token: string; readonly npi: string; readonly email: string },
  n: number,
): Promise<void> {
  const example = eventExamples["clinician.account_created"]
  const text = JSON.stringify({
    ...example,
    livemode: false,
    event_id: `evt_${recipient.id.slice(4)}${n.toString(16)}`,
    data: {
      npi: recipient.npi,
      email: recipient.email,
      consumer_program_slug: "heart-failure",
      attribution: "service_token",
      token: recipient.token,
    },
  })
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac("sha256", secret).update(`${t}.${text}`).digest("hex")
  const headers = { "content-type": "application/json", "x-signature": `t=${t},v1=${v1}` }
  const { statusCode, body } = await http.request({ method: "POST", path, headers, body: text })
  await body.dump()
  if (statusCode !== 200) throw new Error(`an inbound event returned ${statusCode}`)
}

async function readUsage(): Promise<Usage> {
  const [{ wal }] = (await sql`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal`) as unknown as [
    { wal: string },
  ]
  const own = process.cpuUsage()
  return {
    importer: own.user + own.system,
    api: cpuTime(api.pid),
    worker: cpuTime(worker.pid!),
    postgres: cpuTime(postmaster),
    wal: Number(wal),
  }
}

function startWorker(): ChildProcess {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve("@outreach/worker/main"))], {
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      DATABASE_URL: asRole(server.url, "worker"),
      SECRETS_KEY: SECRETS_KEY.toString("base64"),
      PUBLIC_BASE_URL: api.url,
      SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
      MAIL_FROM: "Acme <outreach@acme.test>",
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
      ADMIN_PORT: "0",
      LOG_LEVEL: "error",
    },
    stdio: ["ignore", "inherit", "inherit"],
  })
  process.once("exit", () => child.kill("SIGKILL"))
  return child
}

async function countCaught(): Promise<number> {
  catcher.send("count")
  const [{ count }] = (await once(catcher, "message")) as [{ count: number }]
  return count
}

async function isEmpty(query: postgres.PendingQuery<postgres.Row[]>): Promise<boolean> {
  return (await query).length === 0
}

/** Processes all items, several at a time. */
async function each<Item>(items: readonly Item[], work: (item: Item, i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const takeTurns = async () => {
    for (let i = next++; i < items.length; i = next++) await work(items[i]!, i)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, takeTurns))
}

function until(condition: () => Promise<boolean>): Promise<void> {
  return waitFor(condition, { pollMs: POLL_MS })
}
