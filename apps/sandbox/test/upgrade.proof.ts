import { appendFile, cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { createClient, type Fetch } from "@outreach/client"
import type { RecipientRecord } from "@outreach/contract"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import PostalMime from "postal-mime"
import { afterAll, beforeAll, expect, it } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { accountCreated, createCampaign, createPartner } from "./createPartner.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")
const RECIPIENTS = 900
/** The campaign lasts a minute, so that each step of the upgrade happens in the middle of it. */
const PER_MINUTE = 900

let folder: string
let database: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-upgrade-"))
  await buildArtifact(join(folder, "last"))
  await cp(join(folder, "last"), join(folder, "next"), { recursive: true })
  await changeSchema(join(folder, "next", "out", "sql"))
  database = await startPostgres()
})
afterAll(async () => {
  await database?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

/** Functions that workers call all the time. */
const REPLACED = ["lock_due_messages.sql", "write_progress.sql"]

/** What a next release may bring: a column with a check, an index of it, and functions of another text. */
const MIGRATIONS = {
  "0002_recipient_notes.sql": `alter table recipients add column note text;
alter table recipients add constraint recipients_note_check check (length(note) <= 200) not valid;`,
  "0003_recipient_notes_valid.sql": `-- In a transaction of its own, because it reads all recipients.
alter table recipients validate constraint recipients_note_check;`,
  "0004_recipients_by_note.sql":
    "create index concurrently recipients_by_note on recipients (organization_id, note) where note is not null;",
}

/** Makes the schema of a next release in the folder `sql` of an artifact. */
const changeSchema = async (sql: string) => {
  for (const [name, text] of Object.entries(MIGRATIONS)) await writeFile(join(sql, "migrations", name), `${text}\n`)
  for (const name of REPLACED) await appendFile(join(sql, "functions", name), "-- As the next release has it.\n")
}

it("upgrades from one release to the next under traffic, and rolls the processes back: nothing is lost, and no request fails", async () => {
  const mail = await mailServer()
  const settings = () => ({
    DATABASE_URL: database.url,
    SECRETS_KEY: KEY,
    CURSOR_KEY: KEY,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    SHUTDOWN_DELAY_SECONDS: "0",
    PORT: "0",
    SMTP_URL: mail.url,
    MAIL_FROM: "outreach@acme.test",
  })
  const last = artifactIn(join(folder, "last"), settings)
  const next = artifactIn(join(folder, "next"), settings)
  const { opsJson } = last

  await last.ops("migrate")
  const { ofAcme, issueKey, endpointId, programId, signingSecret, delivered } = await createPartner(opsJson)

  // As a load balancer does, requests go in turn to the processes that are in service.
  let inService: ReadonlyArray<string> = []
  let turn = 0
  let underWay = 0
  const statuses: Array<number> = []
  const send: Fetch = async (url, request) => {
    const { pathname, search } = new URL(url)
    underWay += 1
    try {
      const response = await fetch(inService[turn++ % inService.length] + pathname + search, request)
      statuses.push(response.status)
      return response
    } finally {
      underWay -= 1
    }
  }
  const takeOut = async (url: string) => {
    inService = inService.filter((each) => each !== url)
    await eventually(
      () => underWay,
      (count) => count === 0,
    )
  }
  const client = createClient({
    apiKey: await issueKey(),
    baseUrl: "http://service.test",
    fetch: send,
    retryDelays: [],
  })

  // What the partner's platform and the clinicians do, until it is over.
  const over = new AbortController()
  const accepted = new Set<string>()
  const tellOfAccounts = async () => {
    for (let n = RECIPIENTS; !over.signal.aborted; n++) {
      const event = accountCreated(n)
      await client.sendEvent(endpointId, event, { secrets: [signingSecret] })
      accepted.add(event.event_id)
      // Traffic, not a flood: what is applied takes turns with what is sent.
      await setTimeout(20)
    }
  }
  const pulled = new Set<string>()
  const poll = async () => {
    const checkpoint = { since: "2026-01-01T00:00:00Z" }
    for await (const { events } of client.sync.events({ checkpoint, everySeconds: 1, signal: over.signal })) {
      for (const { event_id } of events) pulled.add(event_id)
    }
  }
  let clicks = 0
  const click = async () => {
    while (clicks < RECIPIENTS) {
      const message = await eventually(
        () => mail.messages[clicks],
        (found) => found !== undefined,
      )
      const { html } = await PostalMime.parse(message!.text)
      const link = /href="(http[^"]+)"/.exec(html ?? "")![1]!
      const response = await send(link, {
        method: "GET",
        headers: {},
        redirect: "manual",
        signal: AbortSignal.timeout(60_000),
      })
      expect(response.status).toBe(302)
      clicks += 1
    }
  }
  /** Waits until more of everything has happened, or all of it on a slow machine. */
  const goesOn = async () => {
    const state = () => [accepted.size, delivered.size, pulled.size, mail.messages.length, clicks]
    const all = [Infinity, 2 * RECIPIENTS, 2 * RECIPIENTS, RECIPIENTS, RECIPIENTS]
    const wanted = state().map((count, index) => Math.min(count + 20, all[index]!))
    await eventually(state, (now) => now.every((count, index) => count >= wanted[index]!))
  }

  const oldApi = await last.start("api", "listening")
  const oldWorker = await last.start("worker", "worker started")
  inService = [oldApi.annotations.url]
  const campaignId = await createCampaign(opsJson, {
    ...{ programId, folder, recipients: RECIPIENTS },
    flags: ["--per-minute", String(PER_MINUTE)],
  })
  await opsJson("campaigns", "schedule", campaignId)
  const traffic = Promise.all([
    tellOfAccounts(),
    poll().catch((error) => {
      if (!over.signal.aborted) throw error
    }),
    click(),
  ])
  const during = <A>(work: Promise<A>): Promise<A> => Promise.race([work, traffic.then(() => work)])

  await during(goesOn())
  // First the schema: the old processes go on with it.
  expect((await next.opsJson("migrate")).applied).toEqual([
    ...Object.keys(MIGRATIONS).map((name) => `migrations/${name}`),
    ...REPLACED.map((name) => `functions/${name}`),
  ])
  await during(goesOn())
  const newApi = await next.start("api", "listening")
  const newWorker = await next.start("worker", "worker started")
  inService = [...inService, newApi.annotations.url]
  await during(goesOn())
  // Then the processes, one after another.
  await takeOut(oldApi.annotations.url)
  expect([await oldApi.stop(), await oldWorker.stop()]).toEqual([0, 0])
  await during(goesOn())
  // The way back: processes of the last release start on the new schema, which their `ops migrate` leaves as it is.
  expect((await last.opsJson("migrate")).applied).toEqual([])
  const backApi = await last.start("api", "listening")
  const backWorker = await last.start("worker", "worker started")
  inService = [backApi.annotations.url]
  await takeOut(newApi.annotations.url)
  expect([await newApi.stop(), await newWorker.stop()]).toEqual([0, 0])
  await during(goesOn())
  expect((await fetch(`${backApi.annotations.url}/readyz`)).status).toBe(200)

  await during(
    eventually(
      () => [mail.messages.length, clicks],
      (counts) => counts.every((count) => count === RECIPIENTS),
      300_000,
    ),
  )
  const sent = new Set(mail.messages.map(({ to }) => to[0]))
  expect([mail.messages.length, sent.size]).toEqual([RECIPIENTS, RECIPIENTS])
  const count = (type: string) => [...delivered.values()].filter((each) => each === type).length
  await during(
    eventually(
      () => [count("outreach.email_sent"), count("outreach.email_clicked"), pulled.size],
      (counts) => counts[0] === RECIPIENTS && counts[1] === RECIPIENTS && counts[2] === 2 * RECIPIENTS,
      300_000,
    ),
  )
  over.abort()
  await traffic
  await eventually(
    () => opsJson("inbox", "list", ...ofAcme, "--waiting"),
    ({ data }) => data.length === 0,
  )
  const date = new Date().toISOString().slice(0, 10)
  const digest = await opsJson("digests", "show", ...ofAcme, date)
  expect(digest.data).toMatchObject([{ funnel: { cumulative: { account_created: accepted.size } } }])
  const records = new Map<string, RecipientRecord>()
  for await (const record of client.listTokens({ since: "2026-01-01T00:00:00Z" })) records.set(record.token, record)
  expect([...records.values()].filter(({ sent_at }) => sent_at !== null)).toHaveLength(RECIPIENTS)
  expect(statuses.filter((status) => status >= 500)).toEqual([])
  expect([await backApi.stop(), await backWorker.stop()]).toEqual([0, 0])
})
