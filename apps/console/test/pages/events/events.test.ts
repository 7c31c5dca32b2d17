import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import type { EventId } from "@outreach/domain/Identifier"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { insertDeadLetters } from "@outreach/testing/insertDeadLetters"
import { npi } from "@outreach/testing/seedCampaign"
import { seedSentCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole()

const seed = Effect.gen(function* () {
  const { organization, campaign, endpoint, recipients } = yield* seedSentCampaign({ recipients: 2 })
  const sql = yield* SqlClient.SqlClient
  const { id, token } = recipients[0]!
  const [event] = yield* sql<{ eventId: EventId }>`select id as "eventId" from events where recipient_id = ${id}`
  const recipient = { id, token, ...event! }
  return { organizationId: organization.id, campaignId: campaign.id, endpointId: endpoint.id, recipient }
})

let seeded: Effect.Success<typeof seed>
let viewer: Visitor
let operator: Visitor
beforeAll(async () => {
  seeded = await test().run(seed)
  viewer = await test().as("viewer", seeded.organizationId)
  operator = await test().as("operator", seeded.organizationId)
})

const rowsOf = ({ document }: Awaited<ReturnType<Visitor["get"]>>) =>
  [...document.querySelectorAll("main tbody tr")].map((row) =>
    [...row.querySelectorAll("td")].map((cell) => cell.textContent!.trim()),
  )
const linksOf = ({ document }: Awaited<ReturnType<Visitor["get"]>>) =>
  [...document.querySelectorAll("main a")].map((link) => link.getAttribute("href"))

describe("the log of events", () => {
  it("lists them newest first with their clinician and campaign, by type, campaign and clinician", async () => {
    const page = await viewer.get("/events")
    expect(rowsOf(page).map(([type]) => type)).toEqual([
      "outreach.email_sent",
      "outreach.email_sent",
      "outreach.recipients_published",
    ])
    const { recipient, campaignId } = seeded
    const ofRecipient = await viewer.get(`/events?recipient=${recipient.id}&type=outreach.email_sent`)
    expect(rowsOf(ofRecipient)).toMatchObject([
      ["outreach.email_sent", `NPI ${maskNpi(npi(0))}`, "Spring", expect.anything()],
    ])
    const to = [`/events/${recipient.eventId}`, `/people/${recipient.id}`, `/campaigns/${campaignId}`]
    expect(linksOf(ofRecipient)).toEqual(expect.arrayContaining(to))
    expect(ofRecipient.words).toContain(`--type outreach.email_sent --recipient ${recipient.id}`)
    expect(rowsOf(await viewer.get(`/events?campaign=${campaignId}`))).toHaveLength(3)
    expect((await viewer.get("/events?type=outreach.email_bounced")).words).toContain("No event fits.")
  })

  it("shows an operator of one organization nothing of another", async () => {
    const other = await test().run(seed)
    const stranger = await test().as("admin", other.organizationId)
    const text = (await stranger.get("/events")).text
    expect(text).toContain(other.campaignId)
    expect(text).not.toContain(seeded.campaignId)
    for (const query of [`recipient=${seeded.recipient.id}`, `campaign=${seeded.campaignId}`]) {
      expect((await stranger.get(`/events?${query}`)).status).toBe(404)
    }
    const path = `/events/${seeded.recipient.eventId}`
    expect((await stranger.get(path)).status).toBe(404)
    // A partner may send an event with the id of another partner's.
    await test().run(
      SqlClient.SqlClient.use(
        (sql) => sql`
          insert into inbox_keys (organization_id, event_id, received_at)
          values (${other.organizationId}, ${seeded.recipient.eventId}, now())`,
      ),
    )
    for (const page of [await stranger.get(path), await stranger.post(`${path}/show`, { reveal: "true" })]) {
      expect(page.words).toContain("A partner sent it")
      expect(page.text).not.toContain(seeded.campaignId)
      expect(page.text).not.toContain(seeded.recipient.token)
    }
  })
})

describe("an event", () => {
  it("leads to its clinician, campaign, deliveries and endpoint, and each of them leads back", async () => {
    const { recipient, campaignId, endpointId } = seeded
    const path = `/events/${recipient.eventId}`
    const page = await viewer.get(path)
    expect(page.words).toContain(`NPI ${maskNpi(npi(0))}`)
    const links = linksOf(page)
    expect(links).toEqual(
      expect.arrayContaining([`/people/${recipient.id}`, `/campaigns/${campaignId}`, `/endpoints/${endpointId}`]),
    )
    const delivery = links.find((link) => link?.startsWith("/deliveries/"))!
    expect(linksOf(await viewer.get(delivery))).toEqual(
      expect.arrayContaining([path, `/people/${recipient.id}`, `/campaigns/${campaignId}`]),
    )
    const person = linksOf(await viewer.get(`/people/${recipient.id}`))
    expect(person).toEqual(expect.arrayContaining([path, delivery, `/events?recipient=${recipient.id}`]))
    expect(linksOf(await viewer.get(`/campaigns/${campaignId}`))).toContain(`/events?campaign=${campaignId}`)
  })

  it("masks what is sent until an operator shows it, which is audited", async () => {
    const { recipient, organizationId } = seeded
    const path = `/events/${recipient.eventId}`
    expect((await operator.get(path)).text).not.toContain(recipient.token)
    expect((await viewer.post(`${path}/show`, { reveal: "true" })).status).toBe(403)
    expect((await operator.post(`${path}/show`, { reveal: "true" })).text).toContain(recipient.token)
    const [entry] = await test().run(Effect.flatMap(AuditLog.make, (log) => log.list({ organizationId }, 1)))
    expect(entry).toMatchObject({ command: "events show", arguments: { event: recipient.eventId, reveal: true } })
  })

  it("is replayed to an endpoint that never took it, and is sent again from the log to one that did", async () => {
    const { organizationId, endpointId, recipient } = await test().run(seed)
    const admin = await test().as("admin", organizationId)
    const path = `/events/${recipient.eventId}`
    const again = linksOf(await admin.get(path)).find((link) => link?.startsWith(`/endpoints/${endpointId}/replay?`))
    expect((await admin.get(again!)).words).toMatch(/\d event/)
    // It was given up, and the endpoint is behind it in the log.
    await test().run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* insertDeadLetters([{ organizationId, endpointId, eventId: recipient.eventId, reason: "exhausted" }])
        yield* sql`
          update dead_letters set id = delivery_id(event_id, endpoint_id) where organization_id = ${organizationId}`
      }),
    )
    const dead = await admin.get(path)
    const form = dead.document.querySelector('form[action="/deliveries/replay"]')!
    const delivery = form.querySelector("input[name=delivery]")!.getAttribute("value")!
    await admin.post("/deliveries/replay", { delivery })
    expect(linksOf(await admin.get(path)).filter((link) => link?.startsWith("/deliveries/"))).toHaveLength(2)
  })

  it("that is not stored is not found", async () => {
    expect((await (await test().as("viewer")).get(`/events/evt_${"0".repeat(32)}`)).status).toBe(404)
  })
})
