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
