import { type Checkpoint, createClient, type EventBatch } from "@outreach/client"
import { SCOPES } from "@outreach/contract"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { expect, it } from "vitest"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi } from "../startApi.ts"

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

const reader = ({ key, checkpoint }: Partner) =>
  createClient({ apiKey: key.text, baseUrl: api().url, retryDelays: [] }).sync.events({
    checkpoint: checkpoint(),
    everySeconds: null,
    limit: LIMIT,
  })
const walk = async (partner: Partner) => {
  for await (const batch of reader(partner)) partner.store(batch)
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
