import { appendFile, cp, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { createClient, type Fetch } from "@outreach/client"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { mailServer } from "@outreach/testing/mailServer"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually, until } from "@outreach/testing/until"
import PostalMime from "postal-mime"
import { expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { accountCreated, createCampaign, createPartner } from "./createPartner.ts"

const RECIPIENTS = 300
/** The campaign lasts 20 seconds, so that the upgrade happens in the middle of it. */
const PER_MINUTE = 900

/** Functions that workers call constantly. */
const REPLACED = ["lock_due_messages.sql", "write_progress.sql"]

/** Changes of a next release: a column with a check, an index, and changed functions. */
const MIGRATIONS = {
  "0002_recipient_notes.sql": `alter table recipients add column note text;
alter table recipients add constraint recipients_note_check check (length(note) <= 200) not valid;`,
  "0003_recipient_notes_valid.sql": `-- In a separate transaction, because it reads all recipients.
alter table recipients validate constraint recipients_note_check;`,
  "0004_recipients_by_note.sql":
    "create index concurrently recipients_by_note on recipients (organization_id, note) where note is not null;",
}

/** Creates a next release's schema in the folder `sql` of an artifact. */
const changeSchema = async (sql: string) => {
  for (const [name, text] of Object.entries(MIGRATIONS)) await writeFile(join(sql, "migrations", name), `${text}\n`)
  for (const name of REPLACED) await appendFile(join(sql, "functions", name), "-- As the next release has it.\n")
}

it("upgrades to the next release under traffic, and rolls the processes back, without lost data or failed requests", async () => {
  const folder = temporaryFolder("upgrade")
  await buildArtifact(join(folder, "last"))
  await cp(join(folder, "last"), join(folder, "next"), { recursive: true })
  await changeSchema(join(folder, "next", "out", "sql"))
  const database = await startPostgres()
  onTestFinished(database.stop)
  const mail = await mailServer()
  const settings = () => ({ DATABASE_URL: database.url, SMTP_URL: mail.url })
  const last = artifactIn(join(folder, "last"), settings)
  const next = artifactIn(join(folder, "next"), settings)
  const { opsJson } = last

  await last.ops("migrate")
  const partner = await createPartner(opsJson)
  const { ofAcme, issueKey, endpointId, programId, signingSecret } = partner

  // Requests go in turn to the processes in service, like behind a load balancer.
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

  // The partner's platform and the clinicians, until the end.
  const over = new AbortController()
  const accepted = new Set<string>()
  const sendAccounts = async () => {
    for (let n = RECIPIENTS; !over.signal.aborted; n++) {
      const event = accountCreated(n)
      await client.sendEvent(endpointId, event, { secrets: [signingSecret] })
      accepted.add(event.event_id)
      // Limits the traffic, so that events can be applied in the meantime.
      await setTimeout(20)
    }
  }
  const pulled = new Set<string>()
  const poll = async () => {
    const checkpoint = { since: "2026-01-01T00:00:00Z" }
    const batches = client.sync.events({ checkpoint, everySeconds: 1, signal: over.signal })
    try {
      for await (const { events } of batches) for (const { event_id } of events) pulled.add(event_id)
    } catch (error) {
      if (!over.signal.aborted) throw error
    }
  }
  let clicks = 0
  const click = async () => {
    while (clicks < RECIPIENTS) {
      const { text } = await until(mail, ({ messages }) => messages[clicks])
      const { html } = await PostalMime.parse(text)
      const link = /href="(http[^"]+)"/.exec(html ?? "")![1]!
      const signal = AbortSignal.timeout(60_000)
      const response = await send(link, { method: "GET", headers: {}, redirect: "manual", signal })
      expect(response.status).toBe(302)
      clicks += 1
    }
  }
  /** Waits until more of everything has happened, or, on a slow machine, all of it. */
  const goesOn = async () => {
    const state = () => [accepted.size, partner.delivered.size, pulled.size, mail.messages.length, clicks]
    const all = [Infinity, 2 * RECIPIENTS, 2 * RECIPIENTS, RECIPIENTS, RECIPIENTS]
    const wanted = state().map((count, index) => Math.min(count + 10, all[index]!))
    await eventually(state, (now) => now.every((count, index) => count >= wanted[index]!))
  }

  const oldApi = await last.start("api")
  const oldWorker = await last.start("worker")
  inService = [oldApi.url]
  const flags = ["--per-minute", String(PER_MINUTE)]
  const campaignId = await createCampaign(opsJson, { programId, folder, recipients: RECIPIENTS, flags })
  await opsJson("campaigns", "schedule", campaignId)
  const traffic = Promise.all([sendAccounts(), poll(), click()])
  const during = <A>(work: Promise<A>): Promise<A> => Promise.race([work, traffic.then(() => work)])

  await during(goesOn())
  // First the schema: the old processes continue with it.
  expect((await next.opsJson("migrate")).applied).toEqual([
    ...Object.keys(MIGRATIONS).map((name) => `migrations/${name}`),
    ...REPLACED.map((name) => `functions/${name}`),
  ])
  await during(goesOn())
  const newApi = await next.start("api")
  const newWorker = await next.start("worker")
  inService = [...inService, newApi.url]
  await during(goesOn())
  // Then the processes, one after another.
  await takeOut(oldApi.url)
  expect([await oldApi.kill("SIGTERM"), await oldWorker.kill("SIGTERM")]).toEqual([0, 0])
  await during(goesOn())
  // Rollback: processes of the last release start on the new schema, and their `ops migrate` doesn't change it.
  expect((await last.opsJson("migrate")).applied).toEqual([])
  const backApi = await last.start("api")
  const backWorker = await last.start("worker")
  inService = [backApi.url]
  await takeOut(newApi.url)
  expect([await newApi.kill("SIGTERM"), await newWorker.kill("SIGTERM")]).toEqual([0, 0])
  await during(goesOn())
  expect((await fetch(`${backApi.url}/readyz`)).status).toBe(200)

  await during(partner.receives("outreach.email_sent", RECIPIENTS))
  await during(partner.receives("outreach.email_clicked", RECIPIENTS))
  await during(
    eventually(
      () => pulled.size,
      (count) => count === 2 * RECIPIENTS,
    ),
  )
  expect([mail.messages.length, new Set(mail.messages.map(({ to }) => to[0])).size]).toEqual([RECIPIENTS, RECIPIENTS])
  over.abort()
  await traffic
  await eventually(
    () => opsJson("inbox", "list", ...ofAcme, "--waiting"),
    ({ data }) => data.length === 0,
  )
  const date = new Date().toISOString().slice(0, 10)
  const digest = await opsJson("digests", "show", ...ofAcme, date)
  expect(digest.data).toMatchObject([{ funnel: { cumulative: { account_created: accepted.size } } }])
  let sent = 0
  for await (const { sent_at } of client.listTokens({ since: "2026-01-01T00:00:00Z" })) if (sent_at !== null) sent += 1
  expect(sent).toBe(RECIPIENTS)
  expect(statuses.filter((status) => status >= 500)).toEqual([])
  expect([await backApi.kill("SIGTERM"), await backWorker.kill("SIGTERM")]).toEqual([0, 0])
})
