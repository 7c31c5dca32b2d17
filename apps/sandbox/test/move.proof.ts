import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { ApiError, createClient, type Fetch } from "@outreach/client"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { email, npi } from "@outreach/testing/seedCampaign"
import { sampleEvent } from "@outreach/webhook-verifier/testing"
import PostalMime from "postal-mime"
import { afterAll, beforeAll, expect, it } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { createCampaign, createPartner } from "./createPartner.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")
const RECIPIENTS = 240
/** The mail server takes no more of the campaign before the freeze, so that the organization moves in the middle of it. */
const MAILED_BEFORE = 40
const PER_MINUTE = 1200
/** Of the organization that stays; their numbers follow those of the others. */
const STAYING_RECIPIENTS = 60

/** Whether a message is to one of a number of recipients. */
const isOf = (first: number, recipients: number) => {
  const addresses: ReadonlySet<string> = new Set(Array.from({ length: recipients }, (_, n) => email(first + n)))
  return ({ to }: { readonly to: ReadonlyArray<string> }) => addresses.has(to[0]!)
}

const isOfMoving = isOf(0, RECIPIENTS)

/** A step of a move, as `ops organizations plan-move` prints it. */
interface Step {
  readonly at: "source" | "target" | "both"
  readonly commands: ReadonlyArray<string>
  readonly statements: ReadonlyArray<string>
}

let folder: string
let source: Awaited<ReturnType<typeof startPostgres>>
let target: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-move-"))
  await buildArtifact(folder)
  source = await startPostgres({ settings: { wal_level: "logical", max_wal_senders: "10" } })
  target = await startPostgres()
})
afterAll(async () => {
  // The subscriber first, whose connection would hold up the end of the other.
  await target?.stop()
  await source?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

it("moves an organization to another server in the middle of a campaign: nothing is lost or mailed twice, and another organization stays undisturbed", async () => {
  // Until the freeze the server answers in turn, and only a few.
  let turns = 0
  let answers = 20
  const mail = await mailServer(undefined, async ({ to }) => {
    if (!isOfMoving({ to })) return
    const turn = turns++
    await eventually(
      () => answers,
      (count) => count > turn,
      300_000,
    )
  })
  const serviceOn = (server: typeof source) =>
    artifactIn(folder, () => ({
      DATABASE_URL: server.url,
      SECRETS_KEY: KEY,
      CURSOR_KEY: KEY,
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
      SHUTDOWN_DELAY_SECONDS: "0",
      PORT: "0",
      SMTP_URL: mail.url,
      MAIL_FROM: "outreach@acme.test",
    }))
  const services = { source: serviceOn(source), target: serviceOn(target) }
  const servers = { source, target }
  const query = <Row extends object>(at: "source" | "target", text: string, values: ReadonlyArray<unknown> = []) =>
    withClient(servers[at].url, async (client) => (await client.query<Row>(text, [...values])).rows)

  const urls = { source: "", target: "" }
  for (const at of ["source", "target"] as const) {
    await services[at].ops("migrate")
    urls[at] = (await services[at].start("api", "listening")).annotations.url
    await services[at].start("worker", "worker started")
  }
  const { opsJson } = services.source
  const over = new AbortController()

  /** A partner with its traffic, which goes where `at` says. Like any partner, it repeats what was answered with 503. */
  const startPartner = async (first: number) => {
    const partner = await createPartner(opsJson)
    const statuses: Array<number> = []
    const state = { at: "source" as "source" | "target" }
    const send: Fetch = async (url, request) => {
      const { pathname, search } = new URL(url)
      const response = await fetch(urls[state.at] + pathname + search, request)
      statuses.push(response.status)
      return response
    }
    const client = createClient({
      apiKey: await partner.issueKey(),
      baseUrl: "http://service.test",
      fetch: send,
      retryDelays: [],
    })
    const accepted = new Set<string>()
    const tellOfAccounts = async () => {
      for (let n = first; !over.signal.aborted; n++) {
        const event = sampleEvent("clinician.account_created")
        const data = { ...event.data, npi: npi(n), email: email(n), consumer_program_slug: "x" }
        await repeated(() =>
          client.sendEvent(partner.endpointId, { ...event, data }, { secrets: [partner.signingSecret] }),
        )
        accepted.add(event.event_id)
        // Traffic, not a flood: what is applied takes turns with what is sent.
        await setTimeout(20)
      }
    }
    const pulled: Array<{ readonly id: string; readonly at: string }> = []
    const poll = async () => {
      let checkpoint: Parameters<typeof client.sync.events>[0]["checkpoint"] = { since: "2026-01-01T00:00:00Z" }
      while (!over.signal.aborted) {
        await repeated(async () => {
          for await (const batch of client.sync.events({ checkpoint, everySeconds: null })) {
            for (const { event_id, emitted_at } of batch.events) pulled.push({ id: event_id, at: emitted_at })
            checkpoint = batch.checkpoint
          }
        })
        await setTimeout(1000)
      }
    }
    return {
      ...partner,
      id: partner.ofAcme[1]!,
      state,
      statuses,
      accepted,
      pulled,
      traffic: [tellOfAccounts(), poll()],
    }
  }
  /** Repeats a request while the service is unavailable. */
  const repeated = async (request: () => Promise<unknown>): Promise<void> => {
    while (true) {
      const failure = await request().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (failure === undefined) return
      if (!(failure instanceof ApiError && failure.status === 503)) throw failure
      await setTimeout(200)
    }
  }

  const moving = await startPartner(10_000)
  const staying = await startPartner(20_000)
  const traffic = Promise.all([...moving.traffic, ...staying.traffic])
  const during = <A>(work: Promise<A>): Promise<A> => Promise.race([work, traffic.then(() => work)])

  const mailsOfMoving = () => mail.messages.filter(isOfMoving)
  const mailsOfStaying = () => mail.messages.filter(isOf(RECIPIENTS, STAYING_RECIPIENTS))
  const flags = ["--per-minute", String(PER_MINUTE)]
  const campaigns = [
    await createCampaign(opsJson, { ...moving, folder, recipients: RECIPIENTS, flags }),
    await createCampaign(opsJson, { ...staying, folder, first: RECIPIENTS, recipients: STAYING_RECIPIENTS }),
  ]

  const { steps } = (await opsJson("organizations", "plan-move", moving.id)) as { steps: Array<Step> }
  const [publish, subscribe, copying, freeze, compare, shrink, keepOne, serve, ...cleanUp] = steps as [
    ...[Step, Step, Step, Step, Step, Step, Step, Step],
    ...Array<Step>,
  ]
  const commandsOf = async ({ at, commands }: Step, ...more: ReadonlyArray<string>) => {
    for (const command of commands) await services[at as "source"].ops(...command.split(" ").slice(1), ...more)
  }
  /** Runs a step on one server as psql would, and returns the rows of its last statement. */
  const run = (step: Step, at = step.at as "source" | "target") =>
    withClient(servers[at].url, async (client) => {
      let rows: Array<Record<string, unknown>> = []
      for (const statement of step.statements) {
        rows = (await client.query(statement.replace(/connection '[^']*'/, `connection '${source.url}'`))).rows
      }
      return rows
    })

  for (const campaign of campaigns) await opsJson("campaigns", "schedule", campaign)
  const mailed = (count: number) =>
    during(
      eventually(
        () => mailsOfMoving().length,
        (length) => length >= count,
        120_000,
      ),
    )
  await mailed(answers)
  const copyBegan = performance.now()
  await run(publish)
  await run(subscribe)
  await during(
    eventually(
      () => run(copying),
      (tables) => tables.length === 0,
      120_000,
    ),
  )
  const copySeconds = (performance.now() - copyBegan) / 1000
  answers = MAILED_BEFORE
  await mailed(MAILED_BEFORE)

  answers = Number.POSITIVE_INFINITY
  const freezeBegan = performance.now()
  await during(commandsOf(freeze))
  const frozenMails = mailsOfMoving().length
  expect(frozenMails).toBeLessThan(RECIPIENTS)
  await withClient(source.url, async (client) => {
    const [note, look] = freeze.statements as [string, string]
    await client.query(note)
    await eventually(
      async () => (await client.query(look)).rows[0].drained,
      (drained) => drained === true,
    )
  })
  const sourceRows = await run(compare, "source")
  // The clock of the source, and what it wrote up to it, when the organization left.
  const ofMoving = [moving.id]
  const clock =
    "select last::text, (select max(emitted_at)::text from events where organization_id = $1) as newest from organization_clock where organization_id = $1"
  const [left] = await query<{ last: string; newest: string }>("source", clock, ofMoving)
  expect(await run(compare, "target")).toEqual(sourceRows)
  expect(await query("target", clock, ofMoving)).toEqual([left])
  await run(shrink)
  await run(keepOne)
  await commandsOf(serve, "--yes")
  moving.state.at = "target"
  const frozenSeconds = (performance.now() - freezeBegan) / 1000

  // Links of e-mails that the source sent still lead there; those of the others lead to the target.
  await mailed(RECIPIENTS)
  const unsubscribed: Array<string> = []
  const follow = async ({ text }: { readonly text: string }, position: number) => {
    const { html = "", headers } = await PostalMime.parse(text)
    const at = position < frozenMails ? "source" : "target"
    const { pathname } = new URL(/href="(http[^"]+)"/.exec(html)![1]!)
    const response = await fetch(urls[at] + pathname, { redirect: "manual" })
    expect([response.status, response.headers.get("location")]).toEqual([302, expect.stringContaining("partner.test")])
    if (position % 20 !== 0) return
    const oneClick = /<(http[^>]+)>/.exec(headers.find(({ key }) => key === "list-unsubscribe")!.value)![1]!
    expect((await fetch(urls[at] + new URL(oneClick).pathname, { method: "POST" })).status).toBe(200)
    unsubscribed.push(at)
  }
  await Promise.all(mailsOfMoving().map(follow))
  expect(new Set(unsubscribed)).toEqual(new Set(["source", "target"]))

  const countOf = ({ delivered }: typeof moving, type: string) =>
    [...delivered.values()].filter((each) => each === type).length
  await during(
    eventually(
      () => [
        countOf(moving, "outreach.email_sent"),
        countOf(moving, "outreach.email_clicked"),
        new Set(moving.pulled.map(({ id }) => id)).size,
        countOf(staying, "outreach.email_sent"),
        staying.pulled.length,
      ],
      (counts) =>
        String(counts) === String([RECIPIENTS, RECIPIENTS, 2 * RECIPIENTS, STAYING_RECIPIENTS, STAYING_RECIPIENTS]),
      120_000,
    ),
  )
  await during(
    eventually(
      () => query("target", "select from unsubscriptions where suppressed_at is not null", []),
      ({ length }) => length === unsubscribed.length,
    ),
  )
  expect(await query("target", "select subenabled from pg_subscription")).toEqual([{ subenabled: true }])
  over.abort()
  await traffic
  for (const [partner, at] of [
    [moving, "target"],
    [staying, "source"],
  ] as const) {
    const applied = "select event_id as id from inbox where organization_id = $1 and applied_at is not null"
    const rows = await eventually(
      () => query<{ id: string }>(at, applied, [partner.id]),
      ({ length }) => length >= partner.accepted.size,
    )
    expect(new Set(rows.map(({ id }) => id))).toEqual(partner.accepted)
    const date = new Date().toISOString().slice(0, 10)
    const digest = await services[at].opsJson("digests", "show", ...partner.ofAcme, date)
    expect(digest.data).toMatchObject([{ funnel: { cumulative: { account_created: partner.accepted.size } } }])
  }

  // Nobody was mailed twice, and the poller saw every event once, in the order of a clock that never stepped back.
  for (const [mails, recipients] of [
    [mailsOfMoving(), RECIPIENTS],
    [mailsOfStaying(), STAYING_RECIPIENTS],
  ] as const) {
    expect([mails.length, new Set(mails.map(({ to }) => to[0])).size]).toEqual([recipients, recipients])
  }
  const feed = await query<{ id: string }>(
    "target",
    "select id from events where organization_id = $1 and type like 'outreach.email%' order by emitted_at, id",
    ofMoving,
  )
  expect(moving.pulled.map(({ id }) => id)).toEqual(feed.map(({ id }) => id))
  const times = moving.pulled.map(({ at }) => at)
  expect(times).toEqual(times.toSorted())
  const [after] = await query<{ count: number }>(
    "target",
    "select count(*)::int as count from events where organization_id = $1 and emitted_at > $2::timestamptz",
    [moving.id, left!.last],
  )
  expect(after!.count).toBeGreaterThan(RECIPIENTS - frozenMails)
  // The source wrote nothing more for it, and noticed nothing else.
  expect(await query("source", clock, ofMoving)).toEqual([left])
  expect(staying.statuses.filter((status) => status >= 500)).toEqual([])
  const refused = moving.statuses.filter((status) => status >= 500)
  expect(new Set(refused)).toEqual(new Set([503]))

  for (const step of cleanUp) await run(step)
  expect((await run(compare, "source")).filter(({ count }) => count !== "0")).toEqual([])
  expect((await run(compare, "target")).find(({ table }) => table === "recipients")).toMatchObject({
    count: String(RECIPIENTS),
  })
  process.stdout.write(
    `${JSON.stringify({ rows: sourceRows.reduce((sum, { count }) => sum + Number(count), 0), copySeconds, frozenSeconds, answered503: refused.length, mailedBySource: frozenMails, mailedByTarget: RECIPIENTS - frozenMails, mailedTwice: 0, inbound: moving.accepted.size, eventsSeen: moving.pulled.length, eventsMissed: 0, inboundOfOther: staying.accepted.size })}\n`,
  )
})
