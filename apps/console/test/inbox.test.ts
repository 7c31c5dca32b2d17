import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { receiveEvent, SECRET_ID } from "@outreach/testing/receiveEvent"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole, type Visitor } from "./startConsole.ts"

const test = startConsole()

const REASON = "data.consumer_program_slug names no program of the organization"
const learner = (n: number, slug = "heart-failure") => ({ npi: npi(n), consumer_program_slug: slug })
const account = (n: number, token: string) => ({
  ...learner(n),
  email: email(n),
  attribution: "service_token",
  token,
  created_at: "2026-11-20T10:00:00Z",
})

/** An organization with two events of one clinician, two of an unknown program, one of an unknown type, and one that waits. */
const seed = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 1 })
  const [recipient] = yield* sql<{ id: string; token: string }>`
    select id, token from recipients where organization_id = ${seeded.organization.id}`
  yield* receiveEvent(seeded, "evt_first", "clinician.account_created", account(0, recipient!.token))
  yield* receiveEvent(seeded, "evt_second", "clinician.account_created", account(0, recipient!.token))
  yield* receiveEvent(seeded, "evt_lost/1", "clinician.learner_qualified", learner(1, "nowhere"))
  yield* receiveEvent(seeded, "evt_lost/2", "clinician.learner_qualified", learner(2, "nowhere"))
  yield* receiveEvent(seeded, "evt_other", "clinician.retired", {})
  while ((yield* applyBatch(seeded.organization.id)) > 0) {}
  yield* receiveEvent(seeded, "evt_waits", "clinician.learner_qualified", learner(3))
  return { ...seeded, recipientId: recipient!.id, only: `organization=${seeded.organization.id}` }
})

let ours: Effect.Success<typeof seed>
let operator: Visitor
beforeAll(async () => {
  ours = await test().run(seed)
  operator = await test().as("operator")
})
const linksIn = (document: Document) =>
  [...document.querySelectorAll("section[aria-label] tbody a code")].map(({ textContent }) => textContent)

describe("the inbox", () => {
  it("shows quarantined events first with their reason", async () => {
    const { words, document } = await operator.get(`/inbox?${ours.only}`)
    expect(words).toContain("Quarantined: 2")
    expect(words).toMatch(/Pending: 1, oldest for \d+ seconds?/)
    expect(linksIn(document)).toEqual(["evt_lost/1", "evt_lost/2"])
    expect(words).toContain(REASON)
  })

  it("is filtered, and rejects invalid filters", async () => {
    const applied = await operator.get(`/inbox?${ours.only}&applied=yes&type=clinician.retired`)
    expect(linksIn(applied.document)).toEqual(["evt_other"])
    for (const query of [
      "waiting=lost",
      "waiting=yes&applied=yes",
      "reason=%00",
      "after=x",
      "after=2026-11-20T10:00:00Z,org_1,x",
    ]) {
      expect({ query, status: (await operator.get(`/inbox?${query}`)).status }).toEqual({ query, status: 400 })
    }
  })
})

describe("an inbound event", () => {
  const pageOf = (event: string) => `/inbox/${encodeURIComponent(event)}?${ours.only}`

  it("shows whether it was counted, the secret that verified it, and the event that was first", async () => {
    const first = await operator.get(pageOf("evt_first"))
    expect(first.words).toContain("by this event")
    expect(first.words).toMatch(/Suppressed since\d/)
    expect(first.words).toContain(`Verified with${SECRET_ID}`)
    expect(first.text).toContain(`href="/people/${ours.recipientId}"`)
    const second = await operator.get(pageOf("evt_second"))
    expect(second.words).toContain("by an earlier event")
    expect(second.text).toContain(`/inbox/evt_first?${ours.only}`)
    await test().run(receiveEvent(ours, "evt_other", "clinician.retired", { more: true }))
    const other = await operator.get(pageOf("evt_other"))
    expect(other.words).toContain("acknowledged and ignored")
    expect(other.words).toContain("once; the first content is used")
    expect((await operator.get(pageOf("evt_waits"))).words).toContain("Pending: a worker applies it soon")
    expect((await operator.get(pageOf("evt_none"))).status).toBe(404)
    expect((await operator.get("/inbox/evt_first")).words).toContain("organization is missing")
    const shown = await operator.post("/inbox/evt_first/show", { organization: ours.organization.id, reveal: "true" })
    expect(shown.words).toContain(npi(0))
  })

  it("shows why it is quarantined, and what to do", async () => {
    const { words } = await operator.get(pageOf("evt_lost/1"))
    expect(words).toContain(REASON)
    expect(words).toContain("Create a program with the event's slug")
  })
})
