import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createClient } from "@outreach/client"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { mailServer } from "@outreach/testing/mailServer"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Changes, eventually, until } from "@outreach/testing/until"
import { expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { restorableServer } from "./restorableServer.ts"
import { LATER_ADDRESSES, startLoad } from "./startLoad.ts"

/**
 * Starts a mail server that accepts messages only in limited batches, so that a test can act in the middle of a campaign.
 *
 * @param isGated - whether a message is limited. Default: each.
 */
const mailGate = async (isGated: (message: { readonly to: ReadonlyArray<string> }) => boolean = () => true) => {
  const gate = { changes: new Changes() }
  let turns = 0
  let limit = 0
  const accepting = async (message: { readonly to: ReadonlyArray<string> }) => {
    if (!isGated(message)) return
    const turn = turns++
    await until(gate, () => limit > turn, { withinMs: 600_000 })
  }
  const mail = await mailServer({ accepting })
  return {
    ...mail,
    /** Accepts this number of further messages. Default: all. */
    accept: (count = Number.POSITIVE_INFINITY): void => {
      limit += count
      gate.changes.announce()
    },
  }
}

const RECIPIENTS = 300
/** How far the lost server's clock, and so the fence, is ahead. */
const CLOCK_AHEAD_SECONDS = 3600
const MARGIN = "2h"

it("sends no e-mail twice and hides no event after a restore by the documented steps", async () => {
  const folder = temporaryFolder("restore")
  await buildArtifact(folder)
  const server = await restorableServer(folder)
  onTestFinished(() => server.stop())
  // Each step of the drill happens in the middle of the first campaign.
  const mail = await mailGate(({ to }) => !LATER_ADDRESSES.has(to[0]!))
  const service = artifactIn(folder, () => ({ DATABASE_URL: server.url, SMTP_URL: mail.url }))
  const { opsJson } = service
  const query = <Row extends object>(text: string, values: ReadonlyArray<unknown> = []) =>
    withClient(server.url, async (client) => (await client.query<Row>(text, [...values])).rows)
  const readIds = async (text: string) => new Set((await query<{ id: string }>(text)).map(({ id }) => id))

  await service.ops("migrate")
  const before = { api: await service.start("api"), worker: await service.start("worker") }
  let baseUrl = before.api.url
  const send: typeof fetch = (url, init) => {
    const { pathname, search } = new URL(String(url))
    return fetch(baseUrl + pathname + search, init)
  }
  const apiUrls = ["http://service.test"]
  const options = { service, apiUrls, fetch: send, mail, recipients: RECIPIENTS, folder }
  const load = await startLoad({ ...options, atEnd: onTestFinished })
  const { partner, acknowledged, campaignId, laterId } = load
  const [poller] = load.pollers as [(typeof load.pollers)[number]]
  const continues = async () => {
    const then = load.progress()
    mail.accept(25)
    const hasContinued = (now: ReadonlyArray<number>) => now.every((count, index) => count >= then[index]! + 20)
    await Promise.race([load.work, eventually(load.progress, hasContinued)])
  }

  const completes = (id: string) =>
    eventually(
      () => query<{ status: string }>("select status from campaigns where id = $1", [id]),
      ([row]) => row!.status === "completed",
    )

  await continues()
  await server.takeBaseBackup()
  await continues()
  const [{ point }] = (await query<{ point: string }>(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as point`,
  )) as [{ point: string }]
  await continues()
  // As if the machine's clock had been ahead.
  await query("update organization_clock set last = last + make_interval(secs => $1)", [CLOCK_AHEAD_SECONDS])
  await opsJson("campaigns", "schedule", laterId)
  await completes(laterId)
  await continues()
  await server.archiveAll()

  await load.stop()
  await before.worker.kill()
  await before.api.kill()
  await server.destroy()
  const mailed = [...mail.messages]
  expect(mailed.length).toBeLessThan(RECIPIENTS)
  mail.accept()

  const log = join(folder, "mail.log")
  const lines = mailed.map(
    ({ text }) => `relay postfix/cleanup[7]: 4bX: message-id=${/^Message-ID: (.*)$/im.exec(text)![1]}\n`,
  )
  await writeFile(log, lines.join(""))

  await server.restoreTo(point)
  // A real restore takes longer than the leases of the lost workers.
  await query("update messages set lease_until = clock_timestamp() where lease_until > clock_timestamp()")
  const stored = await readIds("select event_id as id from inbox")
  const kept = await readIds("select id from events")
  // The restore lost some events.
  const eventsLost = [...poller.seen.keys()].filter((id) => !kept.has(id))
  expect(eventsLost.length).toBeGreaterThan(20)
  expect([...acknowledged.keys()].filter((id) => !stored.has(id)).length).toBeGreaterThan(20)

  // A worker is started before everything else.
  const worker = await service.start("worker")
  expect((await until(worker, "worker paused, see ops restores show")).annotations["fault"]).toBe("moved")
  await eventually(
    async () => (await fetch(`${worker.adminUrl}/readyz`)).text(),
    (text) => text.includes("the database was restored, promoted or moved"),
  )
  const mailedUntilNow = mail.messages.length

  await opsJson("restores", "begin", "--restored-to", point, "--margin", MARGIN)
  expect(await opsJson("restores", "mark-sent", "--log", log)).toEqual({
    marked: expect.any(Number),
    known: expect.any(Number),
    missing: 0,
  })
  expect(mail.messages).toHaveLength(mailedUntilNow)
  baseUrl = (await service.start("api")).url
  await opsJson("restores", "finish", "--resume-campaigns", "--yes")
  // `restores show` lists the instructions for each partner, and this partner follows them.
  const [{ inbound_from: from, inbound_to: to, since, fenced_at: fence }] = (await opsJson("restores", "show")).latest
    .partners
  const client = createClient({ apiKey: await partner.issueKey(), baseUrl, retryDelays: [] })
  const secrets = [partner.signingSecret]
  for (const { event, at } of acknowledged.values()) {
    if (at >= from && at <= to) await client.sendEvent(partner.endpointId, event, { secrets })
  }
  const read = new Set<string>()
  for await (const { event_id } of client.listEvents({ since })) read.add(event_id)
  const held = [...poller.seen].filter(([, emittedAt]) => emittedAt > since && emittedAt <= fence)
  // The events of that period that the partner has and doesn't find again are exactly the lost events.
  const missing = held.map(([id]) => id).filter((id) => !read.has(id))
  expect(missing.sort()).toEqual(eventsLost.sort())
  // An operator repeats the work that was done after the restore point.
  await opsJson("campaigns", "schedule", laterId)
  await completes(campaignId)
  await completes(laterId)
  await eventually(
    () => query("select from inbox where applied_at is null and quarantined_at is null"),
    ({ length }) => length === 0,
  )
  await poller.catchUp()
  const ids = await readIds("select id from events")
  await until(partner, () => [...ids].every((id) => partner.delivered.has(id)))
  const sent = "select id, recipient_id as recipient from events where type = 'outreach.email_sent'"
  const feed = await query<{ id: string; recipient: string }>(sent)
  const applied = await readIds("select event_id as id from inbox where applied_at is not null")
  const all = load.recipients
  expect([mail.messages.length, new Set(mail.messages.map(({ to }) => to[0])).size]).toEqual([all, all])
  expect([feed.length, new Set(feed.map(({ recipient }) => recipient)).size]).toEqual([all, all])
  expect(feed.filter(({ id }) => !poller.seen.has(id))).toEqual([])
  expect([...acknowledged.keys()].filter((id) => !applied.has(id))).toEqual([])
})
