import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { OperatorRepository, setOperatorRole } from "@outreach/domain/operators/Operators"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { insertDeadLetters } from "@outreach/testing/seedDeadLetters"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { MAX_PARTNER_ACTIONS } from "../../../src/signIn/Sessions.ts"
import { startConsole } from "../../startConsole.ts"

const API = "https://api.outreach.test"
const test = startConsole({ PUBLIC_BASE_URL: API })

/** An organization with a dead letter, and a partner of it who is signed in. */
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
  const visitor = await test().as("partner", organizationId)
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
