import type { EventId } from "@outreach/domain/Identifier"
import { insertDeadLetters } from "@outreach/testing/seedDeadLetters"
import { seedSentCampaign } from "@outreach/testing/sendCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole()

const seed = Effect.gen(function* () {
  const { organization, campaign, endpoint, recipients } = yield* seedSentCampaign({ recipients: 2 })
  const { id, token } = recipients[0]!
  const [event] = yield* sql<{ eventId: EventId }>`select id as "eventId" from events where recipient_id = ${id}`
  const recipient = { id, token, ...event! }
  return { organizationId: organization.id, campaignId: campaign.id, endpointId: endpoint.id, recipient }
})

let seeded: Effect.Success<typeof seed>
let operator: Visitor
beforeAll(async () => {
  seeded = await test().run(seed)
  operator = await test().as("operator", seeded.organizationId)
})

type Answer = Awaited<ReturnType<Visitor["get"]>>
const linksOf = ({ document }: Answer) =>
  [...document.querySelectorAll("main a")].map((link) => link.getAttribute("href"))

it("downloads the filtered events as CSV, without personal data", async () => {
  const { recipient, campaignId } = seeded
  const { headers, text } = await operator.get(`/events/csv?recipient=${recipient.id}&type=outreach.email_sent`)
  expect(headers.get("content-disposition")).toBe('attachment; filename="events.csv"')
  const [head, row, end] = text.split("\r\n")
  expect([head, end]).toEqual(["id,type,emitted_at,recipient_id,campaign_id", ""])
  expect(row).toMatch(`${recipient.eventId},outreach.email_sent,`)
  expect(row).toMatch(`,${recipient.id},${campaignId}`)
  expect((await operator.get("/events/csv?after=yesterday")).status).toBe(400)
})

it("links an event to its clinician, campaign, deliveries and endpoint, and each of them to the event", async () => {
  const { recipient, campaignId, endpointId } = seeded
  const path = `/events/${recipient.eventId}`
  const links = linksOf(await operator.get(path))
  const to = [`/people/${recipient.id}`, `/campaigns/${campaignId}`]
  expect(links).toEqual(expect.arrayContaining([...to, `/endpoints/${endpointId}`]))
  const delivery = links.find((link) => link?.startsWith("/deliveries/"))!
  expect(linksOf(await operator.get(delivery))).toEqual(expect.arrayContaining([path, ...to]))
  const person = linksOf(await operator.get(`/people/${recipient.id}`))
  expect(person).toEqual(expect.arrayContaining([path, delivery, `/events?recipient=${recipient.id}`]))
  expect(linksOf(await operator.get(`/campaigns/${campaignId}`))).toContain(`/events?campaign=${campaignId}`)
  expect((await operator.get(path)).text).not.toContain(recipient.token)
  expect((await operator.post(`${path}/show`, { reveal: "true" })).text).toContain(recipient.token)
})

it("shows a partner's event, and no data of another organization's event with the same id", async () => {
  const { organizationId } = await test().run(seed)
  const { recipient, campaignId } = seeded
  const stranger = await test().as("admin", organizationId)
  await test().run(
    sql`
      insert into inbox_keys (organization_id, event_id, received_at)
      values (${organizationId}, ${recipient.eventId}, now())`,
  )
  const path = `/events/${recipient.eventId}`
  for (const page of [await stranger.get(path), await stranger.post(`${path}/show`, { reveal: "true" })]) {
    expect(page.words).toContain("A partner sent this event")
    for (const foreign of [campaignId, recipient.token]) expect(page.text).not.toContain(foreign)
  }
})

it("offers to send a delivered event again from the log, and to replay a dead letter", async () => {
  const { organizationId, endpointId, recipient } = await test().run(seed)
  const admin = await test().as("admin", organizationId)
  const path = `/events/${recipient.eventId}`
  const again = linksOf(await admin.get(path)).find((link) => link?.startsWith(`/endpoints/${endpointId}/replay?`))
  expect((await admin.get(again!)).words).toMatch(/\d event/)
  await test().run(function* () {
    yield* insertDeadLetters([{ organizationId, endpointId, eventId: recipient.eventId, reason: "exhausted" }])
    yield* sql`
      update dead_letters set id = delivery_id(event_id, endpoint_id) where organization_id = ${organizationId}`
  })
  const form = (await admin.get(path)).document.querySelector('form[action="/deliveries/replay"]')!
  const delivery = form.querySelector("input[name=delivery]")!.getAttribute("value")!
  await admin.post("/deliveries/replay", { delivery })
  expect(linksOf(await admin.get(path)).filter((link) => link?.startsWith("/deliveries/"))).toHaveLength(2)
})

it("sorts by a heading in both directions, and keeps filters, order and a relative period in the links of the list", async () => {
  const { campaignId, recipient } = seeded
  const first = await operator.get(`/events?campaign=${campaignId}&from=-24h`)
  const heading = first.document.querySelector("th[aria-sort=descending] a")!
  expect(heading.textContent).toBe("Emitted")
  const sorted = await operator.get(heading.getAttribute("href")!)
  expect(sorted.document.querySelector("th[aria-sort=ascending] a")?.textContent).toBe("Emitted")
  const captionOf = ({ document }: Answer) => document.querySelector("caption")?.textContent
  expect([captionOf(first), captionOf(sorted)]).toEqual(["Events of the log, newest first", "Events of the log"])
  const idsOf = (page: Answer) => linksOf(page).filter((href) => href?.startsWith("/events/evt_"))
  expect(idsOf(first)).toContain(`/events/${recipient.eventId}`)
  expect(idsOf(sorted)).toEqual(idsOf(first).toReversed())
  const link = [...sorted.document.querySelectorAll("main a")].find(
    ({ textContent }) => textContent === "Link to this list",
  )
  const address = `/events?organization=${seeded.organizationId}&campaign=${campaignId}&from=-24h&sort=emitted-at-asc`
  expect(link?.getAttribute("href")).toBe(address)
  expect(sorted.document.querySelector(`[data-copy="${address}"]`)).not.toBeNull()
  expect(sorted.document.querySelector("input[name=from]")?.getAttribute("value")).toBe("-24h")
  expect(linksOf(sorted)).toContain(address.replace("/events", "/events/csv"))
  expect(sorted.words).toContain(`--campaign ${campaignId} --from=-24h --sort emitted-at-asc`)
  const other = await test().as("viewer", seeded.organizationId)
  expect(idsOf(await other.get(address))).toEqual(idsOf(sorted))
  expect(idsOf(await other.get(address.replace("-24h", "2026-01-01T00:00:00Z").replace("from", "to")))).toEqual([])
})
