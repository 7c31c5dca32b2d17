import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { OperatorRepository, setOperatorRole } from "@outreach/domain/operators/Operators"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { insertDeadLetters } from "@outreach/testing/seedDeadLetters"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { MAX_PARTNER_ACTIONS } from "../../../src/signIn/Sessions.ts"
import { seedOrganization } from "../../seedOrganization.ts"
import { rowsOf, startConsole } from "../../startConsole.ts"

const API = "https://api.outreach.test"
const test = startConsole({ PUBLIC_BASE_URL: API })

/** An organization with a dead letter, and an admin of the partner who is signed in. */
const seed = async () => {
  const endpointUrl = "https://hooks.acme.test/outreach?key=topsecret"
  const seeded = await test().run(function* () {
    const seeded = yield* seedCampaign({ recipients: 0, endpointUrl })
    const { organization, endpoint, campaign } = seeded
    const [eventId] = yield* publishSent(campaign, 1)
    const dead = { organizationId: organization.id, endpointId: endpoint.id, eventId: eventId!, reason: "rejected" }
    const [delivery] = yield* insertDeadLetters([dead as never])
    return { ...seeded, delivery: delivery! }
  })
  const organizationId = seeded.organization.id
  const visitor = await test().as("partner-admin", organizationId)
  return { ...seeded, organizationId, path: `/partners/${organizationId}`, visitor }
}
type Seeded = Awaited<ReturnType<typeof seed>>

it("shows a partner the causes of failures and the documents, with a new key filled in", async () => {
  const { endpoint, path, visitor } = await seed()
  const { document, words, text } = await visitor.get(path)
  expect(document.querySelector(`a[href="/endpoints/${endpoint.id}"]`)!.textContent).toContain("hooks.acme.test")
  expect(words).toContain("100 %")
  expect(document.querySelector(`a[href="${API}/docs"]`)).not.toBeNull()
  expect(text).not.toContain("topsecret")
  const issued = await visitor.post(`${path}/keys`, { name: "Nightly sync", scopes: "events:read" })
  const key = issued.document.querySelector("main pre")!.textContent!.trim()
  expect(issued.document.querySelector(`a[href="${API}/docs#key=${key}"]`)).not.toBeNull()
  expect(issued.headers.get("cache-control")).toContain("no-store")
  expect(test().logs.join("\n")).not.toMatch(/orp_test_\w/)
})

it("shows a partner its full address on request, but not the worker that delivers to it", async () => {
  const { endpoint, visitor } = await seed()
  const { token } = await test().run(Effect.tap(workerOn(), ({ take }) => take()))
  const path = `/endpoints/${endpoint.id}`
  expect((await (await test().as("admin")).get(path)).words).toContain(token)
  const { words } = await visitor.get(path)
  expect(words).not.toContain(token)
  expect(words).not.toContain("Served by")
  expect((await visitor.post(`${path}/show`, { reveal: "true" })).text).toContain("topsecret")
})

it("doesn't replay another organization's deliveries, regardless of the partner's selection", async () => {
  const [mine, other] = [await seed(), await seed()]
  for (const selection of [
    { organization: other.organizationId },
    { endpoint: other.endpoint.id },
    { delivery: other.delivery },
    { endpoint: `${mine.endpoint.id},${other.endpoint.id}` },
  ]) {
    const path = "delivery" in selection ? "/deliveries/replay" : "/dead-letters/replay"
    expect((await mine.visitor.post(path, { ...selection, rate: "100" })).status).toBe(404)
  }
  const all = await mine.visitor.post("/dead-letters/replay", { rate: "1" })
  expect(all.words).toContain("sends 1 dead letter")
  expect(await test().run(ReplayReader.use(({ list }) => list({ organizationId: other.organizationId }, 10)))).toEqual(
    [],
  )
})

it("limits the actions of a partner in a minute, and not those of other partners", async () => {
  const [busy, calm] = [await seed(), await seed()]
  const show = ({ visitor, delivery }: Seeded) => visitor.post(`/deliveries/${delivery}/show`, { reveal: "true" })
  let answer = await show(busy)
  // A minute may end while it is counted.
  for (let i = 0; i < 3 * MAX_PARTNER_ACTIONS && answer.status === 200; i++) answer = await show(busy)
  expect([answer.status, answer.words]).toEqual([429, expect.stringContaining("too many changes in a minute")])
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
  expect((await busy.visitor.get(`/deliveries/${busy.delivery}`)).status).toBe(200)
  expect((await show(calm)).status).toBe(200)
})

it("applies a new role, or the removal of the operator, from the next request on", async () => {
  const { organizationId, path } = await seed()
  const admin = await test().as("admin", organizationId)
  const operators = await test().run(OperatorRepository.use(({ list }) => list))
  const { id } = operators.findLast((each) => each.role === "admin" && each.organizationId === organizationId)!
  expect((await admin.get("/campaigns")).status).toBe(200)
  await test().run(setOperatorRole(id, "partner"))
  expect([(await admin.get("/campaigns")).status, (await admin.get(path)).status]).toEqual([404, 200])
  await test().run(OperatorRepository.use(({ remove }) => remove(id)))
  expect((await admin.get(path)).headers.get("location")).toBe("/sign-in")
})

/** Returns the commands and results that the audit log has of an organization's partner-admins. */
const auditOf = (organizationId: string) =>
  test().query(
    (sql) => sql<{ command: string; result: string; arguments: object }>`
      select log.command, result, log.arguments from audit_log log join audit_results on command_id = log.id
      where ${organizationId} = any (organizations) and operator like 'partner-admin%' order by log.id`,
  )

it("lets a partner's admin add and change endpoints with public https addresses, up to the operator's limit", async () => {
  const { organizationId, endpoint, path, visitor } = await seed()
  for (const url of ["http://hooks.acme.test/", "https://10.0.0.1/", "https://169.254.169.254/"]) {
    for (const form of ["/endpoints/new", `/endpoints/${endpoint.id}/update`]) {
      const { status, words } = await visitor.post(form, { url })
      expect({ form, url, status, words }).toMatchObject({
        status: 409,
        words: expect.stringContaining("cannot be used"),
      })
    }
  }
  // The addresses of a name are checked at each call.
  await visitor.post(`/endpoints/${endpoint.id}/update`, { url: "https://localhost/" })
  expect((await visitor.post(`/endpoints/${endpoint.id}/test`)).words).toMatch(/Not accepted.*blocked_address/)
  const admin = await test().as("admin")
  expect((await admin.post(`${path}/limit`, { "max-endpoints": "2" })).words).toContain("at most 2 endpoints")
  const given = { types: ["outreach.email_bounced", "outreach.email_opened"], "own-secret": "yes" }
  // An address and a header may contain what looks like an id of another organization.
  const foreign = `key_${"0".repeat(32)}`
  const url = `https://new.acme.test/${foreign}`
  const added = await visitor.post("/endpoints/new", { ...given, url, headers: `X-Api-Key: ${foreign}` })
  expect(added.words).toContain("This is shown only once.")
  const answer = await visitor.post("/endpoints/new", { ...given, url: "https://third.acme.test/" })
  expect([answer.status, answer.words]).toEqual([409, expect.stringContaining("has 2 endpoints, which is its limit")])
  const audited = (await auditOf(organizationId)).filter(({ command }) => command === "endpoints create")
  expect(audited.map(({ result }) => result)).toEqual([...Array(3).fill("failed"), "succeeded", "failed"])
  expect(audited[3]!.arguments).toMatchObject({ url: "https://new.acme.test", types: given.types })
})

it("lets a partner's admin replace the contacts, and change no limit of the operator", async () => {
  const { organizationId, path, visitor } = await seed()
  const given = { contact: "ann@acme.example", "max-endpoints": "10000", "self-service": "no" }
  expect((await visitor.post(`${path}/contacts`, given)).words).toContain("Contacts replaced.")
  expect((await visitor.post(`${path}/limit`, given)).status).toBe(404)
  const found = await test().run(OrganizationReader.use(({ find }) => find(organizationId)))
  expect(found).toMatchObject({ contacts: ["ann@acme.example"], maxEndpoints: 20, selfService: true })
})

it("shows a partner's admin no forms to manage the organization from the moment self-service is off", async () => {
  const { organizationId, endpoint, path, visitor } = await seed()
  const admin = await test().as("admin")
  const page = `/endpoints/${endpoint.id}`
  const forms = [
    "/endpoints/new",
    `${path}/contacts`,
    `${path}/keys`,
    `${path}/secrets/rotate`,
    `${page}/update`,
    `${page}/disable`,
  ]
  const shown = async () => {
    const texts = (await Promise.all([path, page, `${page}/settings`].map((each) => visitor.get(each))))
      .map(({ text }) => text)
      .join()
    return forms.filter((address) => texts.includes(`action="${address}"`) || texts.includes(`href="${address}"`))
  }
  expect(await shown()).toEqual(forms)
  await admin.post(`${path}/limit`, { "self-service": "no" })
  expect(await shown()).toEqual([])
  expect((await visitor.get(path)).words).toContain("Self-service is off. Ask us to change your endpoints")
  expect((await visitor.post("/endpoints/new", { url: "https://new.acme.test/" })).status).toBe(404)
  await admin.post(`${path}/limit`, { "self-service": "yes" })
  expect(await shown()).toEqual(forms)
  expect(await auditOf(organizationId)).toEqual([])
})

it("finds events, deliveries and tokens for a partner, and no clinicians or names", async () => {
  const { ids, published, recipients, personal } = await test().run(seedOrganization("found.test"))
  const visitor = await test().as("partner", ids.organization)
  const search = async (term: string) => {
    const { document } = await visitor.post("/find", { search: term })
    const links = [...document.querySelectorAll("main td a")].map((link) => link.getAttribute("href"))
    return { title: document.querySelector("h1")!.textContent, links }
  }
  expect(await search(published)).toMatchObject({ title: "Event outreach.email_sent" })
  expect(await search(ids.delivery)).toMatchObject({ title: "Delivery of outreach.email_sent" })
  expect(await search(ids.event)).toMatchObject({ title: "Inbound clinician.learner_qualified" })
  for (const { id, token } of recipients) {
    const { title, links } = await search(token)
    expect({ title, links: links.length > 0 }).toEqual({ title: "Events sent to you", links: true })
    expect(links.filter((link) => !link!.startsWith("/events/evt_"))).toEqual([])
    expect((await search(id)).title).toBe("No results")
  }
  for (const hidden of [...personal, "Organization of", ids.campaign, ids.operator]) {
    expect(await search(hidden)).toEqual({ title: "No results", links: [] })
  }
})

it("shows a partner the events it sent, with reasons, advice and invalid signatures", async () => {
  const { ids } = await test().run(seedOrganization("sent.test"))
  await test().run(applyBatch(ids.organization))
  const visitor = await test().as("partner", ids.organization)
  for (const path of [`/partners/${ids.organization}`, "/inbox"]) {
    const rows = rowsOf(await visitor.get(path), "Invalid signatures")
    expect(rows).toEqual([
      [
        expect.stringContaining("sent.test"),
        expect.stringContaining("no active secret"),
        "3",
        ...Array(2).fill(expect.any(String)),
      ],
    ])
  }
  const { words } = await visitor.get(`/inbox/${ids.event}`)
  expect(words).toContain("data.consumer_program_slug names no program")
  expect(words).toContain("ask us to create the program")
})
