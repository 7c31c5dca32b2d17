import { type Checkpoint, createClient, type EventBatch } from "@outreach/client"
import { SCOPES } from "@outreach/contract"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { expect, it, onTestFinished } from "vitest"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { runApi } from "../runApi.ts"
import { startApi, type TestApi } from "../startApi.ts"

const LIMIT = 10

const api = startApi()

/** A partner with a feed, that stores what it is handed and how far it is in one transaction. */
const startPartner = async () => {
  const { organization, campaign } = await api().run(seedCampaign({ recipients: 1 }))
  const key = await api().issue(organization.id, SCOPES)
  const published: Array<string> = []
  const stored: Array<string> = []
  let checkpoint: Checkpoint = { since: "2026-01-01T00:00:00Z" }
  return {
    key,
    published,
    stored,
    publish: async (count: number) => {
      const types = Array<"outreach.email_sent">(count).fill("outreach.email_sent")
      published.push(...(await api().run(publishOutcomes(campaign, types))))
    },
    /** What was stored is text. */
    checkpoint: (): Checkpoint => JSON.parse(JSON.stringify(checkpoint)),
    store: ({ events, checkpoint: reached }: EventBatch) => {
      stored.push(...events.map(({ event_id }) => event_id))
      checkpoint = reached
    },
  }
}
type Partner = Awaited<ReturnType<typeof startPartner>>

const reader = ({ key, checkpoint }: Partner, { url }: Pick<TestApi, "url"> = api()) =>
  createClient({ apiKey: key.text, baseUrl: url, retryDelays: [] }).sync.events({
    checkpoint: checkpoint(),
    everySeconds: null,
    limit: LIMIT,
  })
const walk = async (partner: Partner, through?: Pick<TestApi, "url">) => {
  for await (const batch of reader(partner, through)) partner.store(batch)
}

const startAnother = async (settings: Readonly<Record<string, string>> = {}) => {
  const another = await runApi(api().databaseUrl, { DEPLOYMENT: "staging", ...settings })
  onTestFinished(another.stop)
  return another
}

it("loses and repeats nothing when the partner crashes between pages, before or after it has stored one", async () => {
  const partner = await startPartner()
  await partner.publish(73)
  for (let crash = 0; partner.stored.length < 50; crash++) {
    const reading = reader(partner)
    for (let page = 0; page <= crash % 3; page++) {
      const { value } = await reading.next()
      // Every other time the last page is handed out, and lost in the crash.
      if (value && (page < crash % 3 || crash % 2 === 0)) partner.store(value)
    }
    if (crash % 4 === 0) await partner.publish(1)
  }
  await walk(partner)
  await walk(partner)
  expect(partner.stored).toEqual(partner.published)
})

it("continues after an API process stops in the middle of a walk", async () => {
  const partner = await startPartner()
  await partner.publish(45)
  const doomed = await startAnother()
  const reading = reader(partner, doomed)
  partner.store((await reading.next()).value!)
  partner.store((await reading.next()).value!)
  await doomed.stop()
  await expect(reading.next()).rejects.toMatchObject({ name: "ConnectionError", reason: "network" })
  await partner.publish(6)
  await walk(partner)
  expect(partner.stored).toEqual(partner.published)
})

it("goes on from the checkpoint when the key of the cursors is changed in the middle of a walk", async () => {
  const partner = await startPartner()
  await partner.publish(45)
  const other = await startAnother({ CURSOR_KEY: Buffer.alloc(32, 8).toString("base64") })
  const asked: Array<[cursor: boolean, status: number]> = []
  let pages = 0
  const client = createClient({
    apiKey: partner.key.text,
    baseUrl: api().url,
    fetch: async (url, request) => {
      const response = await fetch(pages++ < 2 ? url : url.replace(api().url, other.url), request)
      asked.push([url.includes("cursor="), response.status])
      return response
    },
  })
  const options = { checkpoint: partner.checkpoint(), everySeconds: null, limit: LIMIT }
  for await (const batch of client.sync.events(options)) partner.store(batch)
  expect(asked.slice(0, 4)).toEqual([
    [false, 200],
    [true, 200],
    [true, 400],
    [false, 200],
  ])
  expect(partner.stored).toEqual(partner.published)
})

it("sees an event that a database set back stamped behind what was read, within the overlap", async () => {
  const partner = await startPartner()
  await partner.publish(5)
  await walk(partner)
  await partner.publish(1)
  await api().sql(
    (sql) => sql`update events set emitted_at = emitted_at - interval '4 seconds' where id = ${partner.published[5]!}`,
  )
  await walk(partner)
  expect(partner.stored).toEqual(partner.published)
})
