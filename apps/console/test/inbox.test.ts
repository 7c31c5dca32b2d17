import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { PartnerActivity } from "@outreach/postgres/organizations/PartnerActivity"
import { applyBatches, receiveEvent, SECRET_ID } from "@outreach/testing/receiveEvent"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

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

/** An organization that sent two events of one clinician, and two for programs that there are not. */
const seed = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 1 })
  const sql = yield* SqlClient.SqlClient
  const [recipient] = yield* sql<{ id: string; token: string }>`
    select id, token from recipients where organization_id = ${seeded.organization.id}`
  yield* receiveEvent(seeded, "evt_first", "clinician.account_created", account(0, recipient!.token))
  yield* receiveEvent(seeded, "evt_second", "clinician.account_created", account(0, recipient!.token))
  yield* receiveEvent(seeded, "evt_lost/1", "clinician.learner_qualified", learner(1, "nowhere"))
  yield* receiveEvent(seeded, "evt_lost/2", "clinician.learner_qualified", learner(2, "nowhere"))
  yield* receiveEvent(seeded, "evt_other", "clinician.retired", {})
  while (yield* applyBatches) {}
  return { ...seeded, recipientId: recipient!.id, only: `organization=${seeded.organization.id}` }
})

let ours: Effect.Success<typeof seed>
let theirs: Effect.Success<typeof seed>
beforeAll(async () => {
  ours = await test().run(seed)
  theirs = await test().run(seed)
  for (const seeded of [ours, theirs]) {
    await test().run(receiveEvent(seeded, "evt_waits", "clinician.learner_qualified", learner(3)))
  }
})
const linksIn = (document: Document) =>
  [...document.querySelectorAll("section[aria-label] tbody a code")].map(({ textContent }) => textContent)

describe("the inbox", () => {
  it("shows what is quarantined first, with its reasons, what waits and since when, and what was received by the hour", async () => {
    const viewer = await test().as("viewer")
    const count = (code: string, requests: number) => ({
      ...{ organizationId: ours.organization.id, callerId: ours.endpoint.id, code, requests, peak: 0 },
    })
    await test().run(
      Effect.flatMap(PartnerActivity, ({ countRequests }) =>
        countRequests([count("", 5), count("INVALID_SIGNATURE", 3), count("INVALID_PARAMETER", 1)]),
      ),
    )
    const { status, words, document } = await viewer.get(`/inbox?${ours.only}`)
    expect(status).toBe(200)
    expect(words).toContain("Quarantined: 2")
    expect(words).toMatch(/Waiting: 1, the first for \d+ seconds?/)
    expect(linksIn(document)).toEqual(["evt_lost/1", "evt_lost/2"])
    expect(words).toContain(REASON)
    expect(document.querySelector("svg[role=img]")!.getAttribute("aria-label")).toBe(
      "Received in the last 48 hours: 5 acknowledged, 3 bad signature, 1 refused",
    )
    expect(words).toContain(`ops inbox list --organization ${ours.organization.id}`)
    expect(document.querySelectorAll("main form[method=post]")).toHaveLength(0)
  })

  it("lists what waits and what was applied, narrowed by type, reason and time, a page after the other", async () => {
    const viewer = await test().as("viewer")
    const list = async (query: string) => linksIn((await viewer.get(`/inbox?${ours.only}&${query}`)).document)
    expect(await list("state=waiting")).toEqual(["evt_waits"])
    expect(await list("state=applied")).toEqual(["evt_other", "evt_second", "evt_first"])
    expect(await list("state=applied&type=clinician.retired")).toEqual(["evt_other"])
    expect(await list("state=applied&to=2026-01-01T00:00:00Z")).toEqual([])
    expect(await list(`reason=${encodeURIComponent(REASON)}`)).toEqual(["evt_lost/1", "evt_lost/2"])
    expect(await list("reason=another")).toEqual([])
    const { words } = await viewer.get("/inbox?state=lost")
    expect(words).toContain("state is not valid. It must be quarantined, waiting or applied.")
    for (const after of [
      "x",
      `2026-99-99T00:00:00.000000Z~${ours.organization.id}~evt_1`,
      "2026-11-20T10:00:00Z~org_1~",
    ]) {
      expect((await viewer.get(`/inbox?after=${encodeURIComponent(after)}`)).status).toBe(400)
    }

    await test().run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, body, received_at, applied_at)
          select ${theirs.organization.id}, 'evt_many' || n, ${theirs.endpoint.id}, 'sec_' || repeat('1', 32), 'many', '{}', now() - n * interval '1 second', now()
          from generate_series(1, 70) n`,
      ),
    )
    const many = `/inbox?${theirs.only}&state=applied&type=many`
    const first = await viewer.get(many)
    const second = await viewer.get(first.document.querySelector("a[rel=next]")!.getAttribute("href")!)
    expect([linksIn(first.document).length, linksIn(second.document).length]).toEqual([50, 20])
    expect(new Set([...linksIn(first.document), ...linksIn(second.document)]).size).toBe(70)
  })

  it("shows an operator of one organization nothing of another", async () => {
    const viewer = await test().as("viewer", ours.organization.id)
    const { words, document } = await viewer.get("/inbox")
    expect(linksIn(document)).toEqual(["evt_lost/1", "evt_lost/2"])
    expect(words).toContain("Quarantined: 2")
    expect((await viewer.get(`/inbox?${theirs.only}`)).status).toBe(404)
    expect((await viewer.get(`/inbox/evt_first?${theirs.only}`)).status).toBe(404)
    const operator = await test().as("operator", ours.organization.id)
    const fields = { organization: theirs.organization.id, reveal: "true", all: "true" }
    expect((await operator.post("/inbox/evt_first/show", fields)).status).toBe(404)
    expect((await operator.post("/inbox/replay", fields)).status).toBe(404)
  })
})

it.each(["reason=%00", "type=%00"])("is no fault of the console: %s", async (query) => {
  expect((await (await test().as("viewer")).get(`/inbox?${query}`)).status).not.toBe(500)
})

describe("an inbound event", () => {
  const pageOf = (event: string) => `/inbox/${encodeURIComponent(event)}?${ours.only}`

  it("shows what it was, masked, and what it counted, without naming a clinician", async () => {
    const viewer = await test().as("viewer")
    const first = await viewer.get(pageOf("evt_first"))
    expect(first.words).toContain("by this event")
    expect(first.words).toContain(`Verified with${SECRET_ID}`)
    expect(first.text).toContain(`href="/people/${ours.recipientId}"`)
    expect(first.text).not.toContain(npi(0))
    expect(first.text).not.toContain(email(0))
    const second = await viewer.get(pageOf("evt_second"))
    expect(second.words).toContain("by an earlier event")
    expect(second.text).toContain(`/inbox/evt_first?${ours.only}`)
    expect((await viewer.get(pageOf("evt_other"))).words).toContain("acknowledged and do nothing here")
    expect((await viewer.get(pageOf("evt_waits"))).words).toContain("It waits for the worker")
    expect((await viewer.get(pageOf("evt_none"))).status).toBe(404)
    expect((await viewer.get("/inbox/evt_first")).words).toContain("organization is missing")
  })

  it("says which secret verified it, and that another body came under its id", async () => {
    const viewer = await test().as("viewer")
    const [secret] = await test().run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* receiveEvent(ours, "evt_other", "clinician.retired", { more: true })
        return yield* sql<{ id: string }>`
          update inbox set secret_id = secret.id from signing_secrets secret
          where inbox.organization_id = ${ours.organization.id} and event_id = 'evt_other' and secret.organization_id = inbox.organization_id
          returning secret.id`
      }),
    )
    const { words } = await viewer.get(pageOf("evt_other"))
    expect(words).toContain(secret!.id)
    expect(words).toContain("once; the first one stays")
  })

  it("is shown as it was sent to an operator who asks, which the audit log records, and to no viewer", async () => {
    const fields = { organization: ours.organization.id, reveal: "true" }
    const viewer = await test().as("viewer")
    expect((await viewer.post("/inbox/evt_first/show", fields)).status).toBe(403)
    const operator = await test().as("operator")
    const shown = await operator.post("/inbox/evt_first/show", fields)
    expect(shown.status).toBe(200)
    expect(shown.words).toContain(npi(0))
    expect(shown.words).toContain(`ops inbox show --organization ${ours.organization.id} evt_first --reveal`)
    const [entry] = await test().run(Effect.flatMap(AuditLog.make, (log) => log.list({ command: "inbox show" }, 1)))
    expect(entry).toMatchObject({
      command: "inbox show",
      result: "succeeded",
      arguments: { event: "evt_first", organization: ours.organization.id, reveal: "true" },
      organizations: [ours.organization.id],
    })
  })

  it("says why it is quarantined and what to do, and waits again when it is replayed", async () => {
    const operator = await test().as("operator")
    const { words } = await operator.get(pageOf("evt_lost/1"))
    expect(words).toContain(REASON)
    expect(words).toContain("Create the program under the slug that the event names")
    const replayed = await operator.post("/inbox/evt_lost%2F1/replay", { organization: ours.organization.id })
    expect(replayed.words).toContain("The event waits to be applied again.")
    expect(replayed.words).toContain("It waits for the worker")
    const again = await operator.post("/inbox/evt_lost%2F1/replay", { organization: ours.organization.id })
    expect(again.status).toBe(409)
    expect(again.words).toContain("there is nothing to replay")
  })

  it("is replayed with all others of its organization", async () => {
    const operator = await test().as("operator")
    expect((await operator.get(`/inbox?${theirs.only}`)).words).toContain("Replay all 2")
    expect((await operator.get(`/inbox/replay?${theirs.only}`)).words).toContain("How many2 events")
    const replayed = await operator.post("/inbox/replay", { organization: theirs.organization.id, all: "true" })
    expect(replayed.words).toContain("2 events wait to be applied again.")
    const { state } = await test().run(
      Effect.flatMap(InboxRepository, ({ find }) => find(theirs.organization.id, "evt_lost/2")),
    )
    expect(state).toBe("waiting")
  })
})
