import { setTimeout } from "node:timers/promises"
import { ApiError, type Checkpoint, createClient, type Fetch } from "@outreach/client"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { eventually } from "@outreach/testing/eventually"
import { until } from "@outreach/testing/until"
import PostalMime from "postal-mime"
import { expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { accountCreated, createCampaign, createPartner } from "./createPartner.ts"
import { mailGate } from "./mailGate.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

const RECIPIENTS = 120
/** The mail server accepts this number before the freeze, so that the organization moves in the middle of its campaign. */
const MAILED_BEFORE = 40
const PER_MINUTE = 1200

type Place = "source" | "target"

/** A step of a move, as `ops organizations plan-move` prints it. */
interface Step {
  readonly at: Place | "both"
  readonly commands: ReadonlyArray<string>
  readonly statements: ReadonlyArray<string>
}

/** Repeats a request while the service is unavailable. */
const repeated = async (request: () => Promise<unknown>): Promise<void> => {
  while (true) {
    try {
      await request()
      return
    } catch (failure) {
      if (!(failure instanceof ApiError && failure.status === 503)) throw failure
    }
    await setTimeout(200)
  }
}

it("moves an organization to another server in the middle of a campaign: nothing is lost or mailed twice", async () => {
  const folder = await temporaryFolder("move")
  await buildArtifact(folder)
  const source = await startPostgres({ settings: { wal_level: "logical", max_wal_senders: "10" } })
  onTestFinished(source.stop)
  const target = await startPostgres()
  // Before the source, whose stop would wait for the connection of this subscriber.
  onTestFinished(target.stop)
  const servers = { source, target }
  const mail = await mailGate()
  mail.accept(MAILED_BEFORE / 2)
  const serviceOn = (server: typeof source) =>
    artifactIn(folder, () => ({ DATABASE_URL: server.url, SMTP_URL: mail.url }))
  const services = { source: serviceOn(source), target: serviceOn(target) }
  const query = <Row extends object>(at: Place, text: string, values: ReadonlyArray<unknown> = []) =>
    withClient(servers[at].url, async (client) => (await client.query<Row>(text, [...values])).rows)

  const urls = { source: "", target: "" }
  for (const at of ["source", "target"] as const) {
    await services[at].ops("migrate")
    urls[at] = (await services[at].start("api")).url
    await services[at].start("worker")
  }
  const { opsJson } = services.source
  const over = new AbortController()

  // The partner and its traffic, which goes where `at` says. Like any partner, it repeats requests that returned 503.
  const partner = await createPartner(opsJson)
  const organizationId = partner.ofAcme[1]!
  const statuses: Array<number> = []
  let at: Place = "source"
  const send: Fetch = async (url, request) => {
    const { pathname, search } = new URL(url)
    const response = await fetch(urls[at] + pathname + search, request)
    statuses.push(response.status)
    return response
  }
  const options = { apiKey: await partner.issueKey(), baseUrl: "http://service.test", fetch: send, retryDelays: [] }
  const client = createClient(options)
  const accepted = new Set<string>()
  const sendAccounts = async () => {
    for (let n = RECIPIENTS; !over.signal.aborted; n++) {
      const event = accountCreated(n)
      await repeated(() => client.sendEvent(partner.endpointId, event, { secrets: [partner.signingSecret] }))
      accepted.add(event.event_id)
      // Pace the traffic, so that the events can be applied meanwhile.
      await setTimeout(20)
    }
  }
  const pulled: Array<{ readonly id: string; readonly at: string }> = []
  const poll = async () => {
    let checkpoint: Checkpoint = { since: "2026-01-01T00:00:00Z" }
    while (!over.signal.aborted) {
      await repeated(async () => {
        for await (const batch of client.sync.events({ checkpoint, everySeconds: null })) {
          for (const { event_id, emitted_at } of batch.events) pulled.push({ id: event_id, at: emitted_at })
          checkpoint = batch.checkpoint
        }
      })
      await setTimeout(500)
    }
  }
  const traffic = Promise.all([sendAccounts(), poll()])
  const during = <A>(work: Promise<A>): Promise<A> => Promise.race([work, traffic.then(() => work)])

  const mailed = (count: number) => during(until(mail, ({ messages }) => messages.length >= count))
  const flags = ["--per-minute", String(PER_MINUTE)]
  const campaign = await createCampaign(opsJson, {
    programId: partner.programId,
    folder,
    recipients: RECIPIENTS,
    flags,
  })

  const { steps } = (await opsJson("organizations", "plan-move", organizationId)) as { steps: Array<Step> }
  const [publish, subscribe, copying, freeze, compare, shrink, keepOne, serve, ...cleanUp] = steps as [
    ...[Step, Step, Step, Step, Step, Step, Step, Step],
    ...Array<Step>,
  ]
  const runCommands = async ({ at, commands }: Step, ...more: ReadonlyArray<string>) => {
    for (const command of commands) await services[at as Place].ops(...command.split(" ").slice(1), ...more)
  }
  /** Runs a step on one server as psql would, and returns the rows of its last statement. */
  const run = (step: Step, at = step.at as Place) =>
    withClient(servers[at].url, async (client) => {
      let rows: Array<Record<string, unknown>> = []
      for (const statement of step.statements) {
        rows = (await client.query(statement.replace(/connection '[^']*'/, `connection '${source.url}'`))).rows
      }
      return rows
    })

  await opsJson("campaigns", "schedule", campaign)
  await mailed(MAILED_BEFORE / 2)
  await run(publish)
  await run(subscribe)
  await during(
    eventually(
      () => run(copying),
      (tables) => tables.length === 0,
    ),
  )
  mail.accept(MAILED_BEFORE / 2)
  await mailed(MAILED_BEFORE)

  mail.accept()
  await during(runCommands(freeze))
  const frozenMails = mail.messages.length
  await withClient(source.url, async (client) => {
    const [note, look] = freeze.statements as [string, string]
    await client.query(note)
    await eventually(
      async () => (await client.query(look)).rows[0].drained,
      (drained) => drained === true,
    )
  })
  const sourceRows = await run(compare, "source")
  // The clock of the source when the organization left.
  const clock = "select last::text from organization_clock where organization_id = $1"
  const [left] = await query<{ last: string }>("source", clock, [organizationId])
  expect(await run(compare, "target")).toEqual(sourceRows)
  expect(await query("target", clock, [organizationId])).toEqual([left])
  await run(shrink)
  await run(keepOne)
  await runCommands(serve, "--yes")
  at = "target"

  // Links of e-mails that the source sent still point to the source; those of the others point to the target.
  await mailed(RECIPIENTS)
  let unsubscribed = 0
  const follow = async ({ text }: { readonly text: string }, position: number) => {
    const { html = "", headers } = await PostalMime.parse(text)
    const url = urls[position < frozenMails ? "source" : "target"]
    const { pathname } = new URL(/href="(http[^"]+)"/.exec(html)![1]!)
    const response = await fetch(url + pathname, { redirect: "manual" })
    expect([response.status, response.headers.get("location")]).toEqual([302, expect.stringContaining("partner.test")])
    if (position % 20 !== 0) return
    const oneClick = /<(http[^>]+)>/.exec(headers.find(({ key }) => key === "list-unsubscribe")!.value)![1]!
    expect((await fetch(url + new URL(oneClick).pathname, { method: "POST" })).status).toBe(200)
    unsubscribed += 1
  }
  await Promise.all(mail.messages.map(follow))

  await during(
    Promise.all([
      partner.receives("outreach.email_sent", RECIPIENTS),
      partner.receives("outreach.email_clicked", RECIPIENTS),
      eventually(
        () => new Set(pulled.map(({ id }) => id)).size,
        (count) => count === 2 * RECIPIENTS,
      ),
      eventually(
        () => query("target", "select from unsubscriptions where suppressed_at is not null"),
        ({ length }) => length === unsubscribed,
      ),
    ]),
  )
  expect(await query("target", "select subenabled from pg_subscription")).toEqual([{ subenabled: true }])
  over.abort()
  await traffic
  const applied = "select event_id as id from inbox where organization_id = $1 and applied_at is not null"
  const rows = await eventually(
    () => query<{ id: string }>("target", applied, [organizationId]),
    ({ length }) => length >= accepted.size,
  )
  expect(new Set(rows.map(({ id }) => id))).toEqual(accepted)
  const date = new Date().toISOString().slice(0, 10)
  const digest = await services.target.opsJson("digests", "show", ...partner.ofAcme, date)
  expect(digest.data).toMatchObject([{ funnel: { cumulative: { account_created: accepted.size } } }])

  // No recipient was mailed twice, and the poller saw every event once, in the order of a clock that never stepped back.
  expect([mail.messages.length, new Set(mail.messages.map(({ to }) => to[0])).size]).toEqual([RECIPIENTS, RECIPIENTS])
  const feed = await query<{ id: string }>(
    "target",
    "select id from events where organization_id = $1 and type like 'outreach.email%' order by emitted_at, id",
    [organizationId],
  )
  expect(pulled.map(({ id }) => id)).toEqual(feed.map(({ id }) => id))
  const times = pulled.map(({ at }) => at)
  expect(times).toEqual(times.toSorted())
  // The source wrote nothing more for it.
  expect(await query("source", clock, [organizationId])).toEqual([left])
  expect(statuses.filter((status) => status >= 500 && status !== 503)).toEqual([])

  for (const step of cleanUp) await run(step)
  expect((await run(compare, "source")).filter(({ count }) => count !== "0")).toEqual([])
  expect((await run(compare, "target")).find(({ table }) => table === "recipients")).toMatchObject({
    count: String(RECIPIENTS),
  })
})
