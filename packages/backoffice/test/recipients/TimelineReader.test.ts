import { describe, expect } from "@effect/vitest"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { eraseClinician } from "@outreach/domain/erasure/Erasures"
import { judgeHits } from "@outreach/domain/hits/Hits"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { recordHits } from "@outreach/testing/recordHits"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { copyCampaign, email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { sql } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type TimelineCursor, TimelineReader } from "../../src/recipients/TimelineReader.ts"

const { test } = testsOnDatabase()

const hit = Effect.fnUntraced(function* (organizationId: OrganizationId, recipientId: RecipientId, method: string) {
  const request = { link: "https://partner.test/", method, headers: { "user-agent": "Mozilla/5.0" } }
  const cameAt = (yield* Clock.currentTimeMillis) + 2000
  yield* recordHits({ organizationId, recipientId, ...request, cameAt })
  yield* judgeHits(organizationId)
})

/** Seeds a campaign; its first message was deferred, sent, clicked by a bot, refused later, and bounced. */
const seed = Effect.fnUntraced(function* (kind: "traffic" | "survey") {
  yield* cancelCampaigns
  const seeded = yield* seedCampaign({ recipients: 1 })
  const { organization, campaign } = seeded
  yield* sql`update campaigns set kind = ${kind} where id = ${campaign.id}`
  yield* sendCampaign(campaign.id)
  const { settle } = yield* Settlements
  const [first] = yield* claimMessages(1)
  const deferred = { outcome: "deferred", reply: "452 4.2.2 Mailbox full" } as const
  yield* settle(first!, { state: "retry", attempts: 1, delaySeconds: 0 }, deferred)
  const [second] = yield* claimMessages(1)
  yield* settleSent(second!)
  const { recipientId } = second!
  yield* hit(organization.id, recipientId, "HEAD")
  yield* reportBounce(recipientId, {
    _tag: "Refused",
    status: "550 5.7.1",
    reply: "550 5.7.1 clinician0 is safe from you",
  })
  yield* reportBounce(recipientId, { _tag: "Bounced", reason: "mailbox_disabled", reply: "550 clinician0 is gone" })
  return { ...seeded, recipientId }
})

const readLines = Effect.fnUntraced(function* (recipientId: RecipientId) {
  const found = yield* (yield* TimelineReader).read(recipientId, { limit: 100 })
  return found!.entries.map(({ kind, detail }) => [kind, detail])
})

const OUTCOMES = [
  ["attempted", "deferred: 452 4.2.2 Mailbox full"],
  ["sent", "250 OK"],
  ["clicked", "bot suspected: head"],
  ["refused_later", "policy: 550 5.7.1 [address] is safe from you"],
  ["bounced", "mailbox_disabled: 550 [address] is gone"],
  ["suppressed", "email: bounced"],
]

describe("TimelineReader.read", () => {
  test("lists each attempt with the server's reply, and the reason of each suspected hit, page by page", function* () {
    const { organization, recipientId } = yield* seed("traffic")
    const other = yield* seed("traffic")
    const lines = yield* readLines(recipientId)
    expect(lines.slice(0, 2)).toEqual([
      ["imported", null],
      ["published", null],
    ])
    expect(lines.slice(2).toSorted()).toEqual(OUTCOMES.toSorted())
    const reader = yield* TimelineReader
    const people = yield* reader.findPeople({ by: "npi", value: npi(0) })
    expect(people.map(({ id }) => id)).toEqual(expect.arrayContaining([recipientId, other.recipientId]))

    yield* hit(organization.id, recipientId, "GET")
    const whole = (yield* reader.read(recipientId, { limit: 100 }))!
    expect(whole.next).toBeNull()
    expect(whole.recipient.npi).toBe(npi(0))
    expect(whole.recipients.map(({ id }) => id)).toEqual([recipientId])
    for (const limit of [1, 2, 5]) {
      const pages: Array<(typeof whole)["entries"]> = []
      let before: TimelineCursor | null = null
      do {
        const page: typeof whole = (yield* reader.read(recipientId, { limit, before }))!
        pages.unshift(page.entries)
        before = page.next
      } while (before !== null)
      const sorted = (entries: (typeof whole)["entries"]) => entries.map((entry) => JSON.stringify(entry)).toSorted()
      expect(sorted(pages.flat())).toEqual(sorted(whole.entries))
    }
  })

  test("shows the same for a campaign without events, except the partner's reason", function* () {
    const { recipientId } = yield* seed("survey")
    const lines = yield* readLines(recipientId)
    const expected = OUTCOMES.map(([kind, detail]) => [kind, kind === "bounced" ? "550 [address] is gone" : detail])
    expect(lines.slice(2).toSorted()).toEqual(expected.toSorted())
  })

  test("contains the events, with their deliveries", function* () {
    const { endpoint, recipientId } = yield* seed("traffic")
    yield* sql`update webhook_endpoints set url = 'https://partner.test/8fKq0dJx2LmWv7TzRb5N' where id = ${endpoint.id}`
    const { entries } = (yield* (yield* TimelineReader).read(recipientId, { limit: 100 }))!
    const events = entries.flatMap(({ kind, eventId }) => (eventId === null ? [] : [[kind, eventId] as const]))
    expect(events.map(([kind]) => kind).toSorted()).toEqual(["bounced", "clicked", "published", "sent"])
    const states = Effect.fnUntraced(function* () {
      const { deliveries: found } = (yield* (yield* TimelineReader).read(recipientId, { limit: 100 }))!
      expect(found.every(({ endpointId }) => endpointId === endpoint.id)).toBe(true)
      expect(found.every(({ url }) => url === "https://partner.test/…")).toBe(true)
      const of = new Map(found.map(({ eventId, state }) => [eventId as string, state]))
      return Object.fromEntries(events.map(([kind, id]) => [kind, of.get(id)]))
    })
    expect(yield* states()).toEqual({ published: "pending", sent: "pending", clicked: "pending", bounced: "pending" })
    const worker = yield* workerOn()
    const taken = (yield* worker.take()).filter(({ endpointId }) => endpointId === endpoint.id)
    expect(yield* states()).toMatchObject({ published: "sending" })
    const by = new Map(events.map(([kind, id]) => [id as string, kind]))
    const of = (...kinds: ReadonlyArray<string>) => taken.filter(({ eventId }) => kinds.includes(by.get(eventId)!))
    yield* worker.settle(of("published", "sent"))
    yield* worker.settle(of("clicked"), { settlement: "rejected" }, 410)
    yield* worker.settle(of("bounced"), { settlement: "retry", delay: 3600 }, 503)
    expect(yield* states()).toEqual({
      published: "delivered",
      sent: "delivered",
      clicked: "rejected",
      bounced: "pending",
    })
  })
})

describe("TimelineReader.findByPart", () => {
  test("finds the records that aren't erased by any part of their address in any case", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 3, emailDomain: "part.example.test" })
    const again = { number: 1, npi: npi(1), email: email(1, "part.example.test") }
    yield* importLines(yield* copyCampaign(campaign.id), [again])
    yield* seedCampaign({ recipients: 3, emailDomain: "part.example.test" })
    const { findByPart } = yield* TimelineReader
    const find = Effect.fnUntraced(function* (part: string) {
      const { records, isWhole } = yield* findByPart(part, organization.id)
      expect(isWhole).toBe(true)
      return records.map(({ npi }) => npi)
    })
    for (const part of ["clinician1@", "CLINICIAN1@pa", "nician1@PART.example"]) {
      expect(yield* find(part)).toEqual([npi(1), npi(1)])
    }
    for (const part of ["clinician", "@part.example", "example.test"])
      expect(yield* find(part)).toEqual([npi(0), npi(1), npi(1), npi(2)])
    for (const part of ["%", "clinician_@", "example.test1"]) expect(yield* find(part)).toEqual([])
    expect((yield* findByPart("@part.example", undefined)).records).toHaveLength(7)
    const by = { operator: "Dana Reyes", command: null, release: "1.0.0" }
    yield* eraseClinician(organization.id, { npi: npi(1), email: null }, by)
    expect(yield* find("clinician")).toEqual([npi(0), npi(2)])
    expect(yield* find("erased.invalid")).toEqual([])
  })

  test("finds addresses by their start if the search inside of them takes too long", function* () {
    const { organization } = yield* seedCampaign({ recipients: 2 })
    const client = yield* SqlClient.SqlClient
    const exceeded = Effect.andThen(client.unsafe("set local statement_timeout = 1"), client`select pg_sleep(60)`)
    const slow = new Proxy(client, {
      get: (target, name) => (name === "unsafe" ? () => exceeded : Reflect.get(target, name)),
    })
    const found = TimelineReader.use(({ findByPart }) => findByPart("clinician1", organization.id))
    const { records, isWhole } = yield* Effect.provideService(found, SqlClient.SqlClient, slow)
    expect({ npis: records.map(({ npi }) => npi), isWhole }).toEqual({ npis: [npi(1)], isWhole: false })
  })
})
