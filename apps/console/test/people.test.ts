import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { judgeHits } from "@outreach/domain/hits/Hits"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { addOperator } from "@outreach/domain/operators/Operators"
import { apiKeyText } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedSentCampaign, sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { type Answer, startConsole, type Visitor } from "./startConsole.ts"

const test = startConsole()

/** Seeds a campaign that was sent to its recipients. */
const seed = Effect.gen(function* () {
  const { organization, campaign, program, recipients } = yield* seedSentCampaign({ recipients: 3 })
  yield* judgeHits(organization.id)
  return { organizationId: organization.id, campaignId: campaign.id, programId: program.id, recipients }
})

let seeded: Effect.Success<typeof seed>
let viewer: Visitor
let operator: Visitor
let admin: Visitor
beforeAll(async () => {
  seeded = await test().run(seed)
  viewer = await test().as("viewer", seeded.organizationId)
  operator = await test().as("operator", seeded.organizationId)
  admin = await test().as("admin", seeded.organizationId)
})

const reply = ({ organizationId, recipients }: typeof seeded, text: string) =>
  test().run(
    SqlClient.SqlClient.use(
      (sql) => sql`
        insert into replies (organization_id, recipient_id, number, subject, text)
        values (${organizationId}, ${recipients[0]!.id}, 1, 'A question', ${text})`,
    ),
  )
const idOf = (i: number): RecipientId => seeded.recipients[i]!.id
const audit = (organizationId: OrganizationId = seeded.organizationId) =>
  test().run(Effect.flatMap(AuditLog.make, (log) => log.list({ organizationId }, 5)))

describe("the search", () => {
  it.each([
    ["an e-mail address", () => email(0).toUpperCase()],
    ["an NPI", () => npi(0)],
    ["a token", () => seeded.recipients[0]!.token],
    ["a recipient's id", () => idOf(0)],
  ])("leads by %s to the clinician", async (_, term) => {
    const page = await viewer.post("/find", { search: term() })
    expect(page.status).toBe(200)
    expect(page.words).toContain(`Clinician ${maskNpi(npi(0))}`)
  })

  it("leads by an id to the page of the thing", async () => {
    for (const [id, path] of [
      [seeded.campaignId, `/campaigns/${seeded.campaignId}`],
      [seeded.organizationId, `/partners/${seeded.organizationId}`],
    ]) {
      const body = new URLSearchParams({ search: id! })
      expect(await locationOf(viewer, body)).toBe(path)
    }
  })

  it("leads by an event's id to its page, and by that of a partner's event to the inbox", async () => {
    const [event] = await test().run(
      SqlClient.SqlClient.use(
        (sql) => sql<{ id: string }>`select id from events where organization_id = ${seeded.organizationId} limit 1`,
      ),
    )
    expect(await locationOf(viewer, new URLSearchParams({ search: event!.id }))).toBe(`/events/${event!.id}`)
    const { organizationId } = seeded
    await test().run(
      SqlClient.SqlClient.use(
        (sql) => sql`
          insert into inbox_keys (organization_id, event_id, received_at) values (${organizationId}, 'evt_c0ffee', now())`,
      ),
    )
    const path = `/inbox/evt_c0ffee?organization=${organizationId}`
    expect(await locationOf(viewer, new URLSearchParams({ search: "evt_c0ffee" }))).toBe(path)
  })

  it("says that nobody was found, and shows several who are", async () => {
    expect((await viewer.post("/find", { search: npi(99) })).words).toContain("Nothing was found")
    await test().run(seed)
    const everywhere = await test().as("viewer")
    const several = await everywhere.post("/find", { search: npi(0) })
    expect(several.words).toContain("2 things were found")
    expect(several.words).not.toContain(npi(0))
    expect(several.words).not.toContain(email(0))
    expect((await viewer.post("/find", { search: npi(0) })).words).toContain(`Clinician ${maskNpi(npi(0))}`)
  })

  it("says what is not valid in its form, with what was typed, whatever page it was typed on", async () => {
    const page = await viewer.post("/find", { search: "1234567890", page: "/find" })
    expect(page.status).toBe(400)
    expect(page.words).toContain("check digit")
    expect(typedIn(page)).toBe("1234567890")
    const header = (await viewer.get("/campaigns")).document.querySelector("header form[action='/find']")!
    expect(header.querySelector("input[name=page]")?.getAttribute("value")).toBe("/find")
    const cut = apiKeyText(true, "a".repeat(30)).slice(0, -2)
    expect((await viewer.post("/find", { search: cut, page: "/find" })).words).toContain("the API key is not whole")
  })

  it("finds by a part of a name what is called so, and leads to the only one", async () => {
    const page = await viewer.post("/find", { search: "ACME héalth" })
    expect(page.words).toMatch(/Clinician|Organization|partner|API keys/)
    const everywhere = await test().as("admin")
    const several = await everywhere.post("/find", { search: "acme" })
    expect(several.document.querySelector(`td a[href="/partners/${seeded.organizationId}"]`)).not.toBeNull()
    expect(several.words).toMatch(/Organization\s*Acme Health/)
    const dana = await test().run(addOperator({ name: "Dana Réyes", role: "viewer", organizationId: null }))
    expect(await locationOf(everywhere, new URLSearchParams({ search: "reyes" }))).toBe(`/operators/${dana.id}`)
    for (const visitor of [await test().as("operator"), admin]) {
      const none = await visitor.post("/find", { search: "reyes" })
      expect(none.words).toContain("has this in its name")
      expect(typedIn(none)).toBe("reyes")
      expect((await visitor.post("/find", { search: dana.id })).words).toMatch(/Nothing (has|of) this/)
    }
  })

  it("leads by the text of a key or signing secret to its row, where it is revoked, and repeats neither", async () => {
    const { organizationId } = seeded
    const { key, text } = await test().run(
      issueKey({ organizationId, name: "Leaked", scopes: ["tokens:read"], expiresAt: null }),
    )
    const secret = await test().run(rotateSecret(organizationId, 0))
    const [{ id: secretId } = { id: "" }] = await test().run(
      SigningSecretRepository.use((all) => all.list({ organizationId })),
    )
    const everywhere = await test().as("viewer")
    const texts = [Redacted.value(text), Redacted.value(secret)]
    const before = test().logs.length
    for (const [typed, id] of [
      [texts[0]!, key.id],
      [texts[1]!, secretId],
    ] as const) {
      for (const visitor of [viewer, everywhere]) {
        const place = await locationOf(visitor, new URLSearchParams({ search: ` ${typed} ` }))
        expect(place).toBe(`/partners/${organizationId}#${id}`)
      }
      const page = await admin.get(`/partners/${organizationId}`)
      const row = [...page.document.querySelectorAll("tr")].find((each) => each.querySelector(`[id="${id}"]`))
      expect(row?.querySelector(`a[href*="/revoke"]`)).not.toBeNull()
      const stranger = await test().as("admin", (await test().run(seed)).organizationId)
      const hidden = await stranger.post("/find", { search: typed })
      expect(hidden.words).toContain("No organization here has or had it")
      expect(hidden.text).not.toContain(typed)
    }
    await test().run(ApiKeyRepository.use((keys) => keys.revoke(key.id)))
    expect(await locationOf(viewer, new URLSearchParams({ search: texts[0]! }))).toContain(key.id)
    const left = [...test().logs.slice(before), JSON.stringify(await audit())].join("\n")
    for (const typed of texts) expect(left).not.toContain(typed.slice(10))
    expect((await audit())[0]).toMatchObject({ command: "recipients find", arguments: { search: null } })
  })

  it("says of an id that nothing has it, and that requests are not kept", async () => {
    const everywhere = await test().as("viewer")
    const none = await everywhere.post("/find", { search: `cmp_${"0".repeat(32)}` })
    expect(none.words).toContain("Nothing has this id")
    expect(typedIn(none)).toBe(`cmp_${"0".repeat(32)}`)
    const request = await everywhere.post("/find", { search: `req_${"0".repeat(32)}` })
    expect(request.words).toContain("Requests are not kept")
    const foreign = await viewer.post("/find", { search: `cmp_${"0".repeat(32)}`, page: "/find" })
    expect({ status: foreign.status, typed: typedIn(foreign) }).toEqual({ status: 404, typed: `cmp_${"0".repeat(32)}` })
  })

  it("leaves what was searched in no log, no address and no entry of the audit log, which has the search", async () => {
    const before = test().logs.length
    await viewer.post("/find", { search: email(0) })
    await viewer.post("/find", { search: npi(98) })
    const [first, second] = await audit()
    for (const entry of [first, second]) {
      expect(entry).toMatchObject({ command: "recipients find", arguments: { search: null }, result: "succeeded" })
    }
    const left = [...test().logs.slice(before), JSON.stringify(await audit())].join("\n")
    for (const personal of [email(0), npi(98), npi(0)]) expect(left).not.toContain(personal)
    const form = (await viewer.get("/find")).document.querySelector("main form")
    expect(form?.getAttribute("method")).toBe("post")
  })
})

const typedIn = ({ document }: Answer) => document.querySelector("main input[name=search]")?.getAttribute("value")

const locationOf = async (visitor: Visitor, fields: URLSearchParams) => {
  const token = (await visitor.get("/find")).document.querySelector("main input[name=token]")!.getAttribute("value")!
  const response = await fetch(`${test().url}/find`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: visitor.cookie, origin: test().url },
    body: new URLSearchParams([...fields, ["token", token]]),
  })
  expect(response.status).toBe(303)
  return response.headers.get("location")
}

describe("a clinician's page", () => {
  it("shows what happened, newest first, with the reply of the mail server and the webhooks", async () => {
    const page = await viewer.get(`/people/${idOf(0)}`)
    expect(page.status).toBe(200)
    const cells = [...page.document.querySelectorAll("section.scroll tbody tr")].map((row) =>
      [...row.querySelectorAll("td")].map((cell) => cell.textContent),
    )
    expect(cells.slice(0, 3).map(([, kind, detail]) => [kind, detail])).toEqual([
      ["Sent", "250 OK"],
      ["Published", "–"],
      ["Imported", "–"],
    ])
    expect(cells[0]![4]).toContain("pending Delivery")
  })

  it("masks the NPI and the addresses on every page that is opened, until they are shown", async () => {
    for (const path of ["/find", `/people/${idOf(0)}`, "/suppressions", "/audit"]) {
      const { text } = await admin.get(path)
      for (const personal of [npi(0), email(0)]) expect(text).not.toContain(personal)
    }
    const shown = await operator.post(`/people/${idOf(0)}/show`, { reveal: "true" })
    expect(shown.words).toContain(npi(0))
    expect(shown.words).toContain(email(0))
    expect((await audit())[0]).toMatchObject({
      command: "recipients find",
      arguments: { id: idOf(0), reveal: true },
      organizations: [seeded.organizationId],
    })
    expect((await viewer.post(`/people/${idOf(0)}/show`, { reveal: "true" })).status).toBe(403)
  })

  it("shows what the person wrote to us once it is shown, whatever it holds, and an operator marks it as done", async () => {
    const path = `/people/${idOf(0)}`
    await reply(seeded, "<b>May I</b> \u202ebring a colleague?")
    const waiting = await operator.get("/replies")
    expect(waiting.words).toContain("A clinician")
    expect(waiting.text).not.toMatch(/A question|colleague/)
    expect(waiting.document.querySelector(`main a[href="${path}"]`)).not.toBeNull()
    const masked = await operator.get(path)
    expect(masked.text).not.toMatch(/A question|colleague/)
    expect(masked.words).toContain("Mark as done")
    const shown = await operator.post(`${path}/show`, { reveal: "true" })
    expect(shown.text).toContain("&lt;b>May I&lt;/b> \\u{202e}bring a colleague?")
    expect((await viewer.post(`${path}/done`)).status).toBe(403)
    expect((await operator.post(`${path}/done`)).words).toContain("Marked as done: 1.")
    expect((await operator.get(path)).words).not.toContain("Mark as done")
    expect((await operator.get("/replies")).words).toContain("Nobody waits for an answer.")
    expect((await operator.get("/replies?state=all")).words).toContain("A clinician")
    expect((await audit())[0]).toMatchObject({ command: "replies mark-done", arguments: { id: idOf(0) } })
  })

  it("says beside the sections of an organization how many of its replies wait", async () => {
    const other = await test().run(seed)
    await reply(other, "When does it begin?")
    const { document } = await (await test().as("viewer", other.organizationId)).get("/")
    expect(document.querySelector("nav a[href='/replies']")!.getAttribute("data-open")).toBe("1")
    expect(document.querySelectorAll("nav [data-open]")).toHaveLength(1)
  })

  it("is not there for another organization", async () => {
    const other = await test().run(seed)
    const stranger = await test().as("admin", other.organizationId)
    expect((await stranger.get(`/people/${idOf(0)}`)).status).toBe(404)
    for (const action of ["show", "suppress", "lift", "export", "erase/plan", "erase", "done"]) {
      const fields = { reveal: "true", reason: "because", "dry-run": "true", typed: npi(0).slice(-4) }
      expect((await stranger.post(`/people/${idOf(0)}/${action}`, fields)).status).toBe(404)
    }
    expect((await stranger.post("/find", { search: idOf(0) })).status).toBe(404)
  })

  it("suppresses in a program or in the organization, with a reason, and lifts it again", async () => {
    const path = `/people/${idOf(1)}`
    expect((await operator.post(`${path}/suppress`, { program: seeded.programId })).status).toBe(400)
    const suppressed = await operator.post(`${path}/suppress`, { program: seeded.programId, reason: "asked by phone" })
    expect(suppressed.words).toContain("Suppressed: 2 new entries")
    expect(suppressed.words).toContain("operator by NPI in")
    expect((await audit())[0]).toMatchObject({
      command: "suppressions create",
      arguments: { id: idOf(1), program: seeded.programId, reason: "asked by phone" },
    })
    const everywhere = await operator.post(`${path}/suppress`, { reason: "asked by letter" })
    expect(everywhere.words).toContain("the whole organization")
    expect((await operator.post(`${path}/lift`, { reason: "asked again" })).words).toContain("Lifted: 2 entries")
    const lifted = await operator.post(`${path}/lift`, { program: seeded.programId, reason: "asked again" })
    expect(lifted.words).toContain("SuppressedNo")
    expect((await viewer.post(`${path}/suppress`, { reason: "no" })).status).toBe(403)
  })

  it("is exported as a file to an admin", async () => {
    expect((await operator.post(`/people/${idOf(1)}/export`)).status).toBe(403)
    const file = await admin.post(`/people/${idOf(1)}/export`)
    expect(file.headers.get("content-disposition")).toContain(`attachment; filename="clinician-${idOf(1)}.json"`)
    expect(file.headers.get("cache-control")).toBe("no-store")
    const held = JSON.parse(file.text)
    expect(held).toMatchObject({ clinician: { npis: [npi(1)], emails: [email(1)] } })
    expect(held.message_attempts).toHaveLength(1)
    expect((await audit())[0]).toMatchObject({ command: "clinicians export", arguments: { id: idOf(1) } })
  })

  it("is erased once it was said what is held and the digits were typed, and is then found nowhere", async () => {
    const { id, token } = seeded.recipients[2]!
    const path = `/people/${id}`
    expect((await operator.get(`${path}/erase`)).status).toBe(403)
    const plan = await admin.get(`${path}/erase`)
    expect(plan.words).toMatch(/message_attempts ?1/)
    expect((await admin.post(`${path}/erase`, { typed: "0000" })).status).toBe(409)
    expect((await admin.get(path)).words).toContain(maskNpi(npi(2)))
    const erased = await admin.post(`${path}/erase`, { typed: npi(2).slice(-4) })
    expect(erased.words).toContain("The clinician is erased")
    expect((await audit())[0]).toMatchObject({ command: "clinicians erase", arguments: { id, typed: null } })
    for (const term of [npi(2), email(2), token]) {
      expect((await admin.post("/find", { search: term })).words).toContain("Nothing was found")
    }
    const left = await admin.get(path)
    expect(left.words).toContain("Erased clinician")
    expect(left.document.querySelectorAll("main form")).toHaveLength(0)
    const reader = await test().run(
      TimelineReader.use((each) => each.find({ by: "npi", value: npi(2), organizationId: seeded.organizationId }, 10)),
    )
    expect(reader).toMatchObject({ recipients: [], entries: [] })
  })
})

it("says at the top of a clinician's page whether they are written to, and why not", async () => {
  const why = async (id: string) =>
    [...(await viewer.get(`/people/${id}`)).document.querySelectorAll("main p")].map(({ textContent }) => textContent)
  expect(await why(idOf(0))).toContainEqual(expect.stringMatching(/^Spring: The e-mail was sent at .* took it\.$/))
  const { organization, campaign } = await test().run(seedCampaign({ recipients: 1 }))
  const other = await test().as("operator", organization.id)
  await test().run(sendCampaign(campaign.id))
  const [row] = await test().run(
    SqlClient.SqlClient.use((sql) => sql<{ id: string }>`select id from recipients where campaign_id = ${campaign.id}`),
  )
  await test().run(commandCampaign(campaign.id, "pause", { stoppedBy: "Dana Reyes", stopReason: "wrong link" }))
  const page = await other.get(`/people/${row!.id}`)
  expect(page.words).toMatch(/Spring: Dana Reyes paused it at .* UTC: wrong link\. Nothing goes out/)
  await other.post(`/people/${row!.id}/suppress`, { reason: "asked by telephone" })
  const { words } = await other.get(`/people/${row!.id}`)
  expect(words).toContain("No campaign of the organization writes to them: an operator suppressed them.")
  expect(words).toContain("Spring: It was not sent: they were suppressed before it went out.")
})
