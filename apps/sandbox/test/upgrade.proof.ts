import { appendFile, cp, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createClient } from "@outreach/client"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { mailServer } from "@outreach/testing/mailServer"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { startLoad } from "./startLoad.ts"

/** The campaign lasts 30 seconds, so that the upgrade happens in the middle of it. */
const RECIPIENTS = 300

/** Functions that workers call constantly. */
const REPLACED = ["lock_due_messages.sql", "write_outcomes.sql"]

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
  await last.ops("migrate")

  // Requests go in turn to the processes in service, like behind a load balancer.
  let inService: ReadonlyArray<string> = []
  let turn = 0
  let underWay = 0
  let isOver = false
  const failures: Array<unknown> = []
  const balance: typeof fetch = async (url, init) => {
    const { pathname, search } = new URL(String(url))
    underWay += 1
    try {
      const response = await fetch(inService[turn++ % inService.length] + pathname + search, init)
      if (response.status >= 400) failures.push(response.status)
      return response
    } catch (error) {
      if (!isOver) failures.push(error)
      throw error
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

  const oldApi = await last.start("api")
  const oldWorker = await last.start("worker")
  inService = [oldApi.url]
  const apiUrls = ["http://service.test"]
  const options = { service: last, apiUrls, fetch: balance, mail, recipients: RECIPIENTS, folder }
  const load = await startLoad({ ...options, atEnd: onTestFinished })
  const { partner } = load
  const during = <A>(work: Promise<A>): Promise<A> => Promise.race([work, load.work.then(() => work)])
  /** Waits until more of everything has happened, or, on a slow machine, all of it. */
  const goesOn = async () => {
    const all = [Infinity, 2 * RECIPIENTS, 2 * RECIPIENTS, RECIPIENTS, RECIPIENTS]
    const wanted = load.progress().map((count, index) => Math.min(count + 10, all[index]!))
    await eventually(load.progress, (now) => now.every((count, index) => count >= wanted[index]!))
  }

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
      () => load.pollers[0]!.seen.size,
      (count) => count === 2 * RECIPIENTS,
    ),
  )
  expect([mail.messages.length, new Set(mail.messages.map(({ to }) => to[0])).size]).toEqual([RECIPIENTS, RECIPIENTS])
  isOver = true
  await load.stop()
  await eventually(
    () => last.opsJson("inbox", "list", ...partner.ofAcme, "--waiting"),
    ({ data }) => data.length === 0,
  )
  const date = new Date().toISOString().slice(0, 10)
  const digest = await last.opsJson("digests", "show", ...partner.ofAcme, date)
  expect(digest.data).toMatchObject([{ funnel: { cumulative: { account_created: load.acknowledged.size } } }])
  const client = createClient({ apiKey: await partner.issueKey(), baseUrl: backApi.url })
  let sent = 0
  for await (const { sent_at } of client.listTokens({ since: "2026-01-01T00:00:00Z" })) if (sent_at !== null) sent += 1
  expect(sent).toBe(RECIPIENTS)
  expect(failures).toEqual([])
  expect([await backApi.kill("SIGTERM"), await backWorker.kill("SIGTERM")]).toEqual([0, 0])
})
