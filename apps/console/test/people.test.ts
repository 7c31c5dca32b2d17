import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { rotateSecret, SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecrets"
import { judgeHits } from "@outreach/domain/hits/Hits"
import type { RecipientId } from "@outreach/domain/Identifier"
import { addOperator } from "@outreach/domain/operators/Operators"
import { apiKeyText } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository, issueKey } from "@outreach/domain/organizations/ApiKeys"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedSentCampaign, sendCampaign } from "@outreach/testing/sendCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Redacted } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Answer, rowsOf, startConsole, type Visitor } from "./startConsole.ts"

const test = startConsole()

/** Seeds a campaign that was sent to its recipients. */
const seed = Effect.gen(function* () {
  const { organization, campaign, program, recipients } = yield* seedSentCampaign({ recipients: 3 })
  yield* judgeHits(organization.id)
  return { organizationId: organization.id, campaignId: campaign.id, programId: program.id, recipients }
})

let seeded: Effect.Success<typeof seed>
let other: typeof seeded
let viewer: Visitor
let admin: Visitor
let stranger: Visitor
let everywhere: Visitor
beforeAll(async () => {
  seeded = await test().run(seed)
  other = await test().run(seed)
  viewer = await test().as("viewer", seeded.organizationId)
  admin = await test().as("admin", seeded.organizationId)
  stranger = await test().as("admin", other.organizationId)
  everywhere = await test().as("admin")
})

const idOf = (i: number): RecipientId => seeded.recipients[i]!.id
const audit = () =>
  test().run(
    Effect.flatMap(AuditLog, (log) =>
      Effect.map(log.page({ organizationId: seeded.organizationId }, 5), ({ rows }) => rows),
    ),
  )
const typedIn = ({ document }: Answer) => document.querySelector("main input[name=search]")?.getAttribute("value")

/** Searches, and returns the address that the response redirects to. */
const locationOf = async (visitor: Visitor, search: string) => {
  const token = (await visitor.get("/find")).document.querySelector("main input[name=token]")!.getAttribute("value")!
  const response = await fetch(`${test().url}/find`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: visitor.cookie, origin: test().url },
    body: new URLSearchParams({ search, token }),
  })
  expect(response.status).toBe(303)
  return response.headers.get("location")
}

describe("the search", () => {
  it.each<readonly [string, () => string, () => string]>([
    ["an e-mail address", () => email(0).toUpperCase(), () => `/people/${idOf(0)}`],
    ["an NPI", () => npi(0), () => `/people/${idOf(0)}`],
    ["a token", () => seeded.recipients[0]!.token, () => `/people/${idOf(0)}`],
    ["a recipient's id", () => idOf(0), () => `/people/${idOf(0)}`],
    ["a campaign's id", () => seeded.campaignId, () => `/campaigns/${seeded.campaignId}`],
    ["an organization's id", () => seeded.organizationId, () => `/partners/${seeded.organizationId}`],
  ])("redirects by %s to its page", async (_, term, path) => {
    expect(await locationOf(viewer, term())).toBe(path())
  })

  it("redirects by an event's id to its page, and by the id of a partner's event to the inbox", async () => {
    const { organizationId } = seeded
    const [event] = await test().run(
      sql<{ id: string }>`select id from events where organization_id = ${organizationId} limit 1`,
    )
    expect(await locationOf(viewer, event!.id)).toBe(`/events/${event!.id}`)
    await test().run(sql`
      insert into inbox_keys (organization_id, event_id, received_at) values (${organizationId}, 'evt_c0ffee', now())`)
    expect(await locationOf(viewer, "evt_c0ffee")).toBe(`/inbox/evt_c0ffee?organization=${organizationId}`)
  })

  it("lists several masked hits", async () => {
    const several = await everywhere.post("/find", { search: npi(0) })
    expect(several.words).toMatch(/\d+ results/)
    for (const personal of [npi(0), email(0)]) expect(several.words).not.toContain(personal)
  })

  it.each<readonly [string, string, number, RegExp]>([
    ["an NPI of nobody", npi(99), 200, /No results/],
    ["an invalid NPI", "1234567890", 400, /check digit/],
    ["an incomplete key", apiKeyText(true, "a".repeat(30)).slice(0, -2), 400, /the API key is not whole/],
    ["an unknown id", `cmp_${"0".repeat(32)}`, 200, /No record has this id/],
    ["a request's id", `req_${"0".repeat(32)}`, 200, /Requests aren't stored/],
  ])("explains why %s has no result", async (_, search, status, words) => {
    const page = await everywhere.post("/find", { search, page: "/find" })
    expect(page.status).toBe(status)
    expect(page.words).toMatch(words)
    expect(typedIn(page)).toBe(search)
  })

  it("keeps the term when it is typed into the header of another page", async () => {
    const header = (await viewer.get("/campaigns")).document.querySelector("header form[action='/find']")!
    expect(header.querySelector("input[name=page]")?.getAttribute("value")).toBe("/find")
    const foreign = await viewer.post("/find", { search: `cmp_${"0".repeat(32)}`, page: "/find" })
    expect([foreign.status, typedIn(foreign)]).toEqual([404, `cmp_${"0".repeat(32)}`])
  })

  it("finds things by a part of their name, and operators only for admins of all organizations", async () => {
    const several = await everywhere.post("/find", { search: "acme" })
    expect(several.document.querySelector(`td a[href="/partners/${seeded.organizationId}"]`)).not.toBeNull()
    expect(several.words).toMatch(/Organization\s*Acme Health/)
    const dana = await test().run(addOperator({ name: "Dana Réyes", role: "viewer", organizationId: null }))
    expect(await locationOf(everywhere, "reyes")).toBe(`/operators/${dana.id}`)
    for (const visitor of [await test().as("operator"), admin]) {
      expect((await visitor.post("/find", { search: "reyes" })).words).toContain("has a matching name")
      expect((await visitor.post("/find", { search: dana.id })).words).toMatch(/No record has this|doesn't exist/)
    }
  })

  it("finds clinicians by the start or another part of their address, masked and audited", async () => {
    const { organization } = await test().run(seedCampaign({ recipients: 2, emailDomain: "heart.test" }))
    const operator = await test().as("operator", organization.id)
    for (const part of [email(0, "heart.test").slice(0, -1), email(1, "heart.test").slice(2)]) {
      expect(await locationOf(operator, part)).toMatch(/^\/people\/rcp_/)
    }
    const both = await operator.post("/find", { search: "@HEART" })
    expect(both.document.querySelectorAll("main tbody a[href^='/people/rcp_']")).toHaveLength(2)
    for (const personal of [email(0, "heart.test"), npi(0)]) expect(both.text).not.toContain(personal)
    const entries = await test().run(AuditLog.use(({ page }) => page({ organizationId: organization.id }, 3)))
    expect(entries.rows.map(({ command, arguments: given }) => [command, given])).toEqual(
      Array.from({ length: 3 }, () => ["recipients find", { search: null }]),
    )
    expect((await stranger.post("/find", { search: "@heart" })).words).toContain("no clinician a matching address")
    expect((await stranger.post("/find", { search: "@h" })).status).toBe(400)
  })

  it("redirects by the text of a key or signing secret to its row, and repeats and logs neither", async () => {
    const { organizationId } = seeded
    const { key, text } = await test().run(
      issueKey({ organizationId, name: "Leaked", scopes: ["tokens:read"], expiresAt: null }),
    )
    const secret = await test().run(rotateSecret(organizationId, 0))
    const [newest] = await test().run(SigningSecretRepository.use((all) => all.list({ organizationId })))
    const page = await admin.get(`/partners/${organizationId}`)
    for (const [typed, id] of [
      [Redacted.value(text), key.id],
      [Redacted.value(secret), newest!.id],
    ] as const) {
      expect(await locationOf(viewer, ` ${typed} `)).toBe(`/partners/${organizationId}#${id}`)
      const row = [...page.document.querySelectorAll("tr")].find((each) => each.querySelector(`[id="${id}"]`))
      expect(row?.querySelector(`a[href*="/revoke"]`)).not.toBeNull()
      const hidden = await stranger.post("/find", { search: typed })
      expect(hidden.words).toContain("No organization of this deployment has or had it")
      expect(hidden.text).not.toContain(typed)
      expect([...test().logs, JSON.stringify(await audit())].join("\n")).not.toContain(typed.slice(10))
    }
    await test().run(ApiKeyRepository.use((keys) => keys.revoke(key.id)))
    expect(await locationOf(viewer, Redacted.value(text))).toContain(key.id)
    expect((await audit())[0]).toMatchObject({ command: "recipients find", arguments: { search: null } })
  })
})

describe("a clinician's page", () => {
  it("shows the attempts and events, newest first, with the mail server's reply and the webhooks", async () => {
    const page = await stranger.get(`/people/${other.recipients[0]!.id}`)
    const cells = rowsOf(page)
    expect(cells.slice(0, 3).map(([, kind, detail]) => [kind, detail])).toEqual([
      ["Sent", "250 OK"],
      ["Published", "–"],
      ["Imported", "–"],
    ])
    expect(cells[0]![4]).toMatch(/pending Delivery to [\w.:]+ \(…[0-9a-f]{4}\)/)
    expect(page.document.querySelector("main td a[href^='/endpoints/whe_']")).not.toBeNull()
  })

  it("exports the person as a file, only for admins", async () => {
    const operator = await test().as("operator", seeded.organizationId)
    expect((await operator.post(`/people/${idOf(1)}/export`)).status).toBe(403)
    const file = await admin.post(`/people/${idOf(1)}/export`)
    expect(file.headers.get("content-disposition")).toContain(`attachment; filename="clinician-${idOf(1)}.json"`)
    expect(file.headers.get("cache-control")).toBe("no-store")
    expect(JSON.parse(file.text)).toMatchObject({ clinician: { npis: [npi(1)], emails: [email(1)] } })
  })

  it("erases the person after the digits were typed, and then offers no more actions", async () => {
    const { id, token } = seeded.recipients[2]!
    const path = `/people/${id}`
    expect((await admin.get(`${path}/erase`)).words).toMatch(/Message attempts: 1/)
    const erased = await admin.post(`${path}/erase`, { typed: npi(2).slice(-4) })
    expect(erased.words).toMatch(/Erased: \d+ rows\. The certificate is ers_/)
    for (const term of [npi(2), email(2), token]) {
      const { words } = await admin.post("/find", { search: term })
      expect(words).toContain("No results")
      if (term !== token) expect(words).toContain("The clinician was erased and is still suppressed")
      expect(words).not.toContain("No matching recipient")
    }
    const entry = (await admin.get("/audit?command=clinicians+erase")).document
    const certificate = entry.querySelector("td a[href^='/erasures/ers_']")!.getAttribute("href")!
    for (const visitor of [viewer, everywhere]) {
      const page = await visitor.get(certificate)
      expect(page.words).toMatch(/Erased by ?admin \d/)
      expect(rowsOf(page, "Erased data")).toContainEqual(["Recipients", "1", "identifying data removed"])
      expect(page.words).toContain("backups and WAL archives")
      for (const personal of [npi(2), email(2), token]) expect(page.text).not.toContain(personal)
      const log = page.document.querySelector("a[href^='/audit?object=ers_']")!.getAttribute("href")!
      expect((await visitor.get(log)).words).toContain("clinicians erase")
    }
    expect((await stranger.get(certificate)).status).toBe(404)
    expect(await locationOf(viewer, certificate.split("/").at(-1)!)).toBe(certificate)
    const left = await admin.get(path)
    expect(left.words).toContain("Erased clinician")
    expect(left.document.querySelectorAll("main form")).toHaveLength(0)
  })

  it("explains first why each campaign writes to the person or not", async () => {
    const { document } = await viewer.get(`/people/${idOf(0)}`)
    const paragraphs = [...document.querySelectorAll("main p")].map(({ textContent }) => textContent)
    expect(paragraphs).toContainEqual(expect.stringMatching(/^Spring: The e-mail was sent at .* accepted it\.$/))
    const { organization, campaign } = await test().run(seedCampaign({ recipients: 1 }))
    const operator = await test().as("operator", organization.id)
    await test().run(sendCampaign(campaign.id))
    const [row] = await test().run(sql<{ id: string }>`select id from recipients where campaign_id = ${campaign.id}`)
    await test().run(commandCampaign(campaign.id, "pause", { stoppedBy: "Dana Reyes", stopReason: "wrong link" }))
    const page = await operator.get(`/people/${row!.id}`)
    expect(page.words).toMatch(/Spring: Dana Reyes paused it at [-\d]+ \d\d:\d\d: wrong link\. E-mails are paused/)
    await operator.post(`/people/${row!.id}/suppress`, { reason: "asked by telephone" })
    const { words } = await operator.get(`/people/${row!.id}`)
    expect(words).toContain(
      "No campaign of the organization sends e-mails to the clinician: an operator suppressed them.",
    )
    expect(words).toContain("Spring: It was not sent: they were suppressed before it was sent.")
  })
})
