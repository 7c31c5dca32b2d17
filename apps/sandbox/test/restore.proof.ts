import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Checkpoint, createClient, type Fetch } from "@outreach/client"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { reservePort } from "@outreach/testing/reservePort"
import { email } from "@outreach/testing/seedCampaign"
import { afterAll, beforeAll, expect, it } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { accountCreated, createCampaign, createPartner } from "./createPartner.ts"
import { restorableServer } from "./restorableServer.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")
const RECIPIENTS = 200
/** Those of the second campaign, which an operator schedules after the point. */
const LATER_RECIPIENTS = 20
/** How far the clock of the lost server is ahead, and how far the fence lies beyond the present. */
const CLOCK_AHEAD_SECONDS = 3600
const MARGIN = "2h"
const laterAddresses: ReadonlySet<string> = new Set(
  Array.from({ length: LATER_RECIPIENTS }, (_, n) => email(RECIPIENTS + n)),
)

let folder: string
let server: Awaited<ReturnType<typeof restorableServer>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-restore-"))
  await buildArtifact(folder)
  server = await restorableServer(folder)
})
afterAll(async () => {
  await server?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

it("mails nobody twice and hides no event after a restore by the steps, and does both after one without them", async () => {
  // The mail server takes a message, and answers it in turn: so each step of the drill falls into the middle of the first campaign.
  let answered = 0
  let answers = 0
  const mail = await mailServer(undefined, async ({ to }) => {
    if (laterAddresses.has(to[0]!)) return
    const turn = answered++
    await eventually(
      () => answers,
      (count) => count > turn,
      600_000,
    )
  })
  const service = artifactIn(folder, () => ({
    DATABASE_URL: server.url,
    SECRETS_KEY: KEY,
    CURSOR_KEY: KEY,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    SHUTDOWN_DELAY_SECONDS: "0",
    PORT: "0",
    SMTP_URL: mail.url,
    MAIL_FROM: "outreach@acme.test",
  }))
  const { opsJson } = service
  const query = <Row extends object>(text: string, values: ReadonlyArray<unknown> = []) =>
    withClient(server.url, async (client) => (await client.query<Row>(text, [...values])).rows)

  await service.ops("migrate")
  const { issueKey, endpointId, programId, signingSecret, delivered } = await createPartner(opsJson)
  const [pollerKey, readerKey] = [await issueKey(), await issueKey()]
  const campaign = await createCampaign(opsJson, { programId, folder, recipients: RECIPIENTS })
  const ofLater = { programId, folder, first: RECIPIENTS, recipients: LATER_RECIPIENTS }
  const later = await createCampaign(opsJson, ofLater)

  let baseUrl = ""
  const send: Fetch = (url, request) => {
    const { pathname, search } = new URL(url)
    return fetch(baseUrl + pathname + search, request)
  }
  const clientOf = (apiKey: string) =>
    createClient({ apiKey, baseUrl: "http://service.test", fetch: send, retryDelays: [] })
  const sendInbound = (event: ReturnType<typeof accountCreated>) =>
    clientOf(pollerKey).sendEvent(endpointId, event, { secrets: [signingSecret] })

  /** What the partner holds, and does until it is over; the end of the service ends it, too. */
  const startPartner = (given: { readonly checkpoint: Checkpoint; readonly seen: ReadonlyMap<string, string> }) => {
    const over = new AbortController()
    const seen = new Map(given.seen)
    let { checkpoint } = given
    const walk = async (everySeconds: number | null) => {
      const options = { checkpoint, everySeconds, signal: over.signal }
      for await (const batch of clientOf(pollerKey).sync.events(options)) {
        for (const { event_id, emitted_at } of batch.events) seen.set(event_id, emitted_at)
        checkpoint = batch.checkpoint
      }
    }
    const polling = walk(1).catch((error) => {
      if (!over.signal.aborted) throw error
    })
    return {
      seen,
      polling,
      checkpoint: () => checkpoint,
      /** Polls once more. */
      poll: async () => {
        over.abort()
        await polling
        for await (const batch of clientOf(pollerKey).sync.events({ checkpoint, everySeconds: null })) {
          for (const { event_id, emitted_at } of batch.events) seen.set(event_id, emitted_at)
          checkpoint = batch.checkpoint
        }
      },
      stop: async () => {
        over.abort()
        await polling
      },
    }
  }

  const before = {
    api: await service.start("api", "listening"),
    worker: await service.start("worker", "worker started"),
  }
  baseUrl = before.api.annotations.url
  await opsJson("campaigns", "schedule", campaign)
  const poller = startPartner({ checkpoint: { since: "2026-01-01T00:00:00Z" }, seen: new Map() })
  /** The events that the service acknowledged, with the time of it. */
  const acknowledged = new Map<string, { readonly event: ReturnType<typeof accountCreated>; readonly at: string }>()
  let isLost = false
  const tellOfAccounts = async () => {
    for (let n = RECIPIENTS + LATER_RECIPIENTS; !isLost; n++) {
      const event = accountCreated(n)
      const isAcknowledged = await sendInbound(event).then(
        () => true,
        (error) => {
          if (!isLost) throw error
          return false
        },
      )
      if (isAcknowledged) acknowledged.set(event.event_id, { event, at: new Date().toISOString() })
    }
  }
  const telling = tellOfAccounts()
  const goesOn = async () => {
    const state = () => [delivered.size, acknowledged.size, poller.seen.size, mail.messages.length]
    const then = state()
    answers += 25
    await Promise.race([
      telling,
      poller.polling,
      eventually(state, (now) => now.every((count, index) => count >= then[index]! + 20)),
    ])
  }

  const completes = (campaignId: string) =>
    eventually(
      () => query<{ status: string }>("select status from campaigns where id = $1", [campaignId]),
      ([row]) => row!.status === "completed",
    )

  await goesOn()
  await server.takeBaseBackup()
  await goesOn()
  const [{ point }] = (await query<{ point: string }>(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as point`,
  )) as [{ point: string }]
  const atPoint = mail.messages.length
  await goesOn()
  // As if the machine's clock had been ahead.
  await query("update organization_clock set last = last + make_interval(secs => $1)", [CLOCK_AHEAD_SECONDS])
  await opsJson("campaigns", "schedule", later)
  await completes(later)
  await goesOn()
  await server.archiveAll()

  isLost = true
  await poller.stop()
  await before.worker.kill()
  await before.api.kill()
  await telling
  await server.destroy()
  const mailed = [...mail.messages]
  expect(mailed.length).toBeLessThan(RECIPIENTS)
  answers = Number.POSITIVE_INFINITY

  const log = join(folder, "mail.log")
  const lines = mailed.map(
    ({ text }) => `relay postfix/cleanup[7]: 4bX: message-id=${/^Message-ID: (.*)$/im.exec(text)![1]}\n`,
  )
  await writeFile(log, lines.join(""))

  /** Restores the server, lets the service go on until the campaigns are over, and compares what partners and recipients got. */
  const restore = async (recover: () => Promise<void>) => {
    const mailedBefore = mail.messages.length
    await server.restoreTo(point)
    const stored = new Set((await query<{ id: string }>("select event_id as id from inbox")).map((row) => row.id))
    const kept = new Set((await query<{ id: string }>("select id from events")).map((row) => row.id))
    await recover()
    // An operator does again what was done after the point.
    await opsJson("campaigns", "schedule", later)
    const own = startPartner({ checkpoint: poller.checkpoint(), seen: poller.seen })
    await completes(campaign)
    await completes(later)
    const waiting = "select event_id from inbox where applied_at is null and quarantined_at is null"
    await eventually(
      () => query(waiting),
      ({ length }) => length === 0,
    )
    await own.poll()
    const events = await query<{ id: string; type: string; recipient: string }>(
      "select id, type, recipient_id as recipient from events",
    )
    await eventually(
      () => events.filter(({ id }) => !delivered.has(id)).length,
      (missing) => missing === 0,
    )
    const feed = events.filter(({ type }) => type === "outreach.email_sent")
    const applied = new Set(
      (await query<{ id: string }>("select event_id as id from inbox where applied_at is not null")).map(
        ({ id }) => id,
      ),
    )
    const copies = new Map<string, number>()
    for (const { to } of [...mailed, ...mail.messages.slice(mailedBefore)])
      copies.set(to[0]!, (copies.get(to[0]!) ?? 0) + 1)
    return {
      mailed: copies.size,
      mailedTwice: [...copies.values()].filter((count) => count > 1).length,
      sentEvents: feed.length,
      sentRecipients: new Set(feed.map(({ recipient }) => recipient)).size,
      unseen: feed.filter(({ id }) => !own.seen.has(id)).length,
      eventsLost: [...poller.seen.keys()].filter((id) => !kept.has(id)).length,
      inboundLost: [...acknowledged.keys()].filter((id) => !stored.has(id)).length,
      inboundMissing: [...acknowledged.keys()].filter((id) => !applied.has(id)).length,
    }
  }
  const startService = async () => {
    const api = await service.start("api", "listening")
    baseUrl = api.annotations.url
    return api
  }
  const all = RECIPIENTS + LATER_RECIPIENTS
  const complete = { mailed: all, sentEvents: all, sentRecipients: all }

  const careless = { api: before.api, worker: before.worker }
  const without = await restore(async () => {
    await opsJson("restores", "finish", "--promoted", "--yes")
    careless.api = await startService()
    careless.worker = await service.start("worker", "worker started")
  })
  await careless.worker.kill()
  await careless.api.kill()
  await server.destroy()

  const adminPort = String(await reservePort())
  const byTheSteps = await restore(async () => {
    // Somebody starts a worker before anything else.
    const worker = await service.start("worker", "worker started", { ADMIN_PORT: adminPort })
    expect((await worker.waitFor("worker is paused, see ops restores show")).fault).toBe("moved")
    const unready = () => fetch(`http://127.0.0.1:${adminPort}/readyz`).then((response) => response.text())
    await eventually(unready, (text) => text.includes("the database was restored, promoted or moved"))
    const mailedUntilNow = mail.messages.length

    await opsJson("restores", "begin", "--restored-to", point, "--margin", MARGIN)
    expect(await opsJson("restores", "mark-sent", "--log", log)).toEqual({
      marked: expect.any(Number),
      known: expect.any(Number),
      missing: 0,
    })
    expect(mail.messages).toHaveLength(mailedUntilNow)
    await startService()
    await opsJson("restores", "finish", "--resume-campaigns", "--yes")
    // `status` has what each partner is told, and it does what it is told.
    const [{ inbound_from: from, inbound_to: to, since, fenced_at: fence }] = (await opsJson("restores", "show")).latest
      .partners
    for (const { event, at } of acknowledged.values()) if (at >= from && at <= to) await sendInbound(event)
    const read = new Set<string>()
    for await (const { event_id } of clientOf(readerKey).listEvents({ since })) read.add(event_id)
    const held = [...poller.seen].filter(([, emittedAt]) => emittedAt > since && emittedAt <= fence)
    const kept = new Set((await query<{ id: string }>("select id from events")).map((row) => row.id))
    // What the partner holds of that time, and does not find again, is what was lost: no more, and no less.
    expect(
      held
        .filter(([id]) => !read.has(id))
        .map(([id]) => id)
        .sort(),
    ).toEqual([...poller.seen.keys()].filter((id) => !kept.has(id)).sort())
  })
  process.stdout.write(
    `${JSON.stringify({ atPoint, mailed: mailed.length, acknowledged: acknowledged.size, without, byTheSteps })}\n`,
  )
  expect(byTheSteps).toMatchObject({ ...complete, mailedTwice: 0, unseen: 0, inboundMissing: 0 })
  expect(byTheSteps.eventsLost).toBeGreaterThan(20)
  expect(byTheSteps.inboundLost).toBeGreaterThan(20)
  // The same checks fail without the steps.
  expect(without.mailedTwice).toBeGreaterThan(LATER_RECIPIENTS)
  expect(without.unseen).toBeGreaterThan(0)
  expect(without.inboundMissing).toBe(without.inboundLost)
})
