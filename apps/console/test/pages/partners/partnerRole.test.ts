import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { setOperatorRole } from "@outreach/domain/operators/Operators"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { insertDeadLetters } from "@outreach/testing/insertDeadLetters"
import { partner as receiverOf } from "@outreach/testing/partner"
import { publishSent } from "@outreach/testing/publishTogether"
import { email, seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { afterEach, expect, it } from "vitest"
import { MAX_PARTNER_ACTIONS } from "../../../src/signIn/Sessions.ts"
import { startConsole } from "../../startConsole.ts"

const API = "https://api.outreach.test"
const test = startConsole({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", PUBLIC_BASE_URL: API })
afterEach(() => expect(test().logs.filter((line) => line.includes("unhandled error"))).toEqual([]))

/** An organization with a dead letter, and a partner of it who is signed in. */
const seed = async (endpointUrl?: string) => {
  const seeded = await test().run(
    Effect.gen(function* () {
      const seeded = yield* seedCampaign({ recipients: 0, ...(endpointUrl && { endpointUrl }) })
      const [eventId] = yield* publishSent(seeded.campaign, 1)
      const [delivery] = yield* insertDeadLetters([
        {
          organizationId: seeded.organization.id,
          endpointId: seeded.endpoint.id,
          eventId: eventId!,
          reason: "rejected",
        },
      ])
      return { ...seeded, delivery: delivery!, eventId: eventId! }
    }),
  )
  const organizationId = seeded.organization.id
  return {
    ...seeded,
    organizationId,
    path: `/partners/${organizationId}`,
    visitor: await test().as("partner", organizationId),
  }
}
type Seeded = Awaited<ReturnType<typeof seed>>

/** The actions of partners in an organization, oldest first. */
const recorded = async ({ organizationId }: Seeded) => {
  const entries = await test().run(AuditLog.use((log) => log.list({ organizationId }, 50)))
  return entries.toReversed().map(({ operator, command, result }) => [operator?.split(" ")[0], command, result])
}

it("sees its endpoints and their causes, usage, keys, secrets and documents on its first page", async () => {
  const { endpoint, path, visitor } = await seed("https://hooks.acme.test/outreach?key=topsecret")
  const { status, document, words, text } = await visitor.get(path)
  expect(status).toBe(200)
  expect(document.querySelector("h1")!.textContent).toBe("Acme Health")
  const headings = [...document.querySelectorAll("main h2")].map(({ textContent }) => textContent)
  expect(headings).toEqual([
    "Why calls fail",
    "API keys",
    "Documents",
    "Requests",
    "Pollers",
    "What the partner sends",
    "Signing secrets",
    "Contacts",
  ])
  expect(document.querySelector(`a[href="/endpoints/${endpoint.id}"]`)!.textContent).toContain("hooks.acme.test")
  expect(words).toContain("100 % of calls since")
  expect(document.querySelector(`a[href="${API}/docs"]`)).not.toBeNull()
  expect(text).not.toContain("topsecret")
})

it("sees of an endpoint neither who delivers to it nor how to change it, and sees the whole address if it asks", async () => {
  const seeded = await seed("https://hooks.acme.test/outreach?key=topsecret")
  const { endpoint, visitor } = seeded
  const { token } = await test().run(
    Effect.gen(function* () {
      const worker = yield* workerOn()
      yield* worker.take()
      return worker
    }),
  )
  const path = `/endpoints/${endpoint.id}`
  const admin = await test().as("admin")
  expect((await admin.get(path)).words).toContain(token)
  const { words, document } = await visitor.get(path)
  expect(words).not.toContain(token)
  expect(words).not.toContain("Delivered by")
  const labels = [...document.querySelectorAll("main form button")].map(({ textContent }) => textContent)
  expect(labels).toEqual([
    "Send a test event",
    "Show the whole address",
    "Rotate secret",
    "Give it a secret of its own",
  ])
  expect((await visitor.post(`${path}/disable`)).status).toBe(404)
  expect((await visitor.post(`${path}/show`, { reveal: "true" })).text).toContain("topsecret")
  expect(await recorded(seeded)).toEqual([["partner", "endpoints show", "succeeded"]])
})

it("issues, rotates and revokes keys, which open the documents with the key filled in", async () => {
  const seeded = await seed()
  const { organizationId, path, visitor } = seeded
  const keyOf = async (text: string) =>
    (await test().run(ApiKeyRepository.use(({ authenticateKey }) => authenticateKey(text))))?.caller
  const issued = await visitor.post(`${path}/keys`, { name: "Nightly sync", scopes: "events:read" })
  const text = issued.document.querySelector("main pre")!.textContent!.trim()
  expect(await keyOf(text)).toMatchObject({ organizationId, scopes: ["events:read"] })
  expect(issued.document.querySelector(`a[href="${API}/docs#key=${text}"]`)!.textContent).toContain("filled in")
  expect(issued.headers.get("cache-control")).toContain("no-store")
  expect((await visitor.get(path)).text).not.toContain(text)

  const [key] = await test().run(ApiKeyRepository.use(({ list }) => list(organizationId)))
  const rotated = await visitor.post(`/keys/${key!.id}/rotate`, { overlap: "1h" })
  const next = rotated.document.querySelector("main pre")!.textContent!.trim()
  expect(rotated.document.querySelector(`a[href="${API}/docs#key=${next}"]`)).not.toBeNull()
  expect((await visitor.post(`/keys/${key!.id}/revoke`, { typed: "Nightly sync" })).words).toContain("Revoked")
  expect([await keyOf(text), (await keyOf(next))?.organizationId]).toEqual([undefined, organizationId])
  expect(await recorded(seeded)).toEqual([
    ["partner", "keys create", "succeeded"],
    ["partner", "keys rotate", "succeeded"],
    ["partner", "keys revoke", "succeeded"],
  ])
  expect(test().logs.join("\n")).not.toMatch(/orp_test_\w/)
})

it("rotates the secret, and cannot revoke one", async () => {
  const { path, visitor } = await seed()
  const rotated = await visitor.post(`${path}/secrets/rotate`, { grace: "0s" })
  expect(rotated.document.querySelector("main pre")!.textContent).toMatch(/^whsec_[0-9A-Za-z]{43}$/)
  const { words, document } = await visitor.get(path)
  expect(words).toContain("Over")
  expect(document.querySelector("form[action^='/secrets/']")).toBeNull()
})

it("reads the body of its delivery, sends a test, replays what failed, and is recorded by its name", async () => {
  const receiver = await receiverOf()
  const seeded = await seed(receiver.url)
  const { endpoint, delivery, eventId, secret, visitor } = seeded
  receiver.trust(secret)
  const path = `/deliveries/${delivery}`
  expect((await visitor.get("/deliveries?state=dead")).document.querySelector(`a[href="${path}"]`)).not.toBeNull()
  const masked = await visitor.get(path)
  expect(masked.text).toContain(eventId)
  expect(masked.text).not.toContain(email(0))
  expect((await visitor.post(`${path}/show`)).words).toContain('"event_type": "outreach.email_sent"')

  expect((await visitor.post(`/endpoints/${endpoint.id}/test`)).words).toContain("Accepted")
  expect(receiver.received).toHaveLength(1)
  const issues = await visitor.get("/issues")
  expect(issues.words).toContain("1 dead letter in 1 issue")
  const begun = await visitor.post("/dead-letters/replay", { endpoint: endpoint.id, rate: "1" })
  expect(begun.words).toContain("1 dead letter will be replayed")
  const [job] = await test().run(ReplayReader.use(({ list }) => list(1, seeded.organizationId)))
  expect((await visitor.post(`/replays/${job!.id}/cancel`)).words).toContain("Cancelled")
  expect(await recorded(seeded)).toEqual([
    ["partner", "deliveries show-request", "succeeded"],
    ["partner", "endpoints test", "succeeded"],
    ["partner", "dead-letters replay", "succeeded"],
    ["partner", "replays cancel", "succeeded"],
  ])
})

it("replays nothing of others when it selects by what it cannot have", async () => {
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
  expect(all.words).toContain("1 dead letter will be replayed")
  expect(await test().run(ReplayReader.use(({ list }) => list(10, other.organizationId)))).toEqual([])
})

it("does no more in a minute than a person does, which leaves other partners alone", async () => {
  const [busy, calm] = [await seed(), await seed()]
  const show = ({ visitor, delivery }: Seeded) => visitor.post(`/deliveries/${delivery}/show`)
  let answer = await show(busy)
  // A minute may end while it is counted.
  for (let i = 0; i < 3 * MAX_PARTNER_ACTIONS && answer.status === 200; i++) answer = await show(busy)
  expect([answer.status, answer.words]).toEqual([429, expect.stringContaining("too much in a minute")])
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
  expect((await busy.visitor.get(`/deliveries/${busy.delivery}`)).status).toBe(200)
  expect((await show(calm)).status).toBe(200)
})

it("is a partner from the next request on, and as long as its operator exists", async () => {
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
