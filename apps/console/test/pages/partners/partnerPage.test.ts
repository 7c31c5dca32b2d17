import { eventExamples } from "@outreach/contract"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { EventFeed, feedFrom } from "@outreach/postgres/events/EventFeed"
import { PartnerActivity } from "@outreach/postgres/organizations/PartnerActivity"
import { sign } from "@outreach/signature/node"
import { eventually } from "@outreach/testing/eventually"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted } from "effect"
import { afterEach, expect, it } from "vitest"
import { startProcess } from "../../journeys/startProcess.ts"
import { startConsole } from "../../startConsole.ts"

const test = startConsole()
afterEach(() => expect(test().logs.filter((line) => line.includes("unhandled error"))).toEqual([]))

const seed = async () => {
  const seeded = await test().run(seedCampaign({ recipients: 0 }))
  const organizationId = seeded.organization.id
  const { key } = await test().run(
    issueKey({ organizationId, name: "Nightly sync", scopes: ["events:read"], expiresAt: null }),
  )
  return { ...seeded, organizationId, key, path: `/partners/${organizationId}` }
}
const activity = <A>(use: (activity: PartnerActivity["Service"]) => Effect.Effect<A>) =>
  test().run(Effect.flatMap(PartnerActivity, use))
const secretsOf = (organizationId: Awaited<ReturnType<typeof seed>>["organizationId"]) =>
  test().run(Effect.flatMap(SigningSecretRepository, ({ list }) => list({ organizationId })))

it("shows how much of its limit a key uses, which errors it got, and how far its poller is behind", async () => {
  const { organizationId, key, campaign, endpoint, path } = await seed()
  const served = { organizationId, callerId: key.id, code: "", requests: 1500, peak: 40 }
  await activity(({ countRequests }) =>
    countRequests([
      served,
      { ...served, code: "RATE_LIMITED", requests: 500, peak: 100 },
      { ...served, callerId: endpoint.id, code: "INVALID_SIGNATURE", requests: 3, peak: 0 },
    ]),
  )
  await test().run(publishSent(campaign, 3))
  const since = "2020-01-01T00:00:00.000000Z" as Timestamp
  const { rows } = await test().run(
    Effect.flatMap(EventFeed, ({ page }) => page(organizationId, ["outreach.email_sent"], feedFrom(since), 1)),
  )
  const [first] = rows
  const position = { organizationId, keyId: key.id, list: "events", types: null, hasMore: true } as const
  await activity(({ notePositions }) => notePositions([{ ...position, at: first!.emittedAt, id: first!.id }]))

  const viewer = await test().as("viewer")
  const { words, document } = await viewer.get(path)
  expect(words).toContain("100 of 100")
  expect(words).toMatch(/2,000\s*25 %/)
  expect(words).toMatch(/RATE_LIMITED\s*Nightly sync\s*500/)
  expect(words).toMatch(/INVALID_SIGNATURE\s*whe_[0-9a-f]+\s*3/)
  expect(words).toMatch(/Nightly sync\s*Events\s*Reading\s*2/)
  expect(words).toContain(`ops organizations show ${organizationId}`)
  expect(document.querySelectorAll("form[action*='/keys'], form[action*='/secrets']")).toHaveLength(0)
  const partners = await viewer.get("/partners")
  expect(partners.words).toMatch(/Acme Health/)
  expect(partners.words).toMatch(/2,003/)
})

it("issues a key and shows it once, rotates it, and revokes it when its name was typed", async () => {
  const { organizationId, key, path } = await seed()
  const admin = await test().as("admin")
  const issued = await admin.post(`${path}/keys`, { name: "Reports", scopes: "events:read,digest:read" })
  const text = issued.document.querySelector("main pre")!.textContent!.trim()
  expect(text).toMatch(/^orp_test_/)
  expect(issued.headers.get("cache-control")).toContain("no-store")
  const recognised = await test().run(Effect.flatMap(ApiKeyRepository, ({ authenticateKey }) => authenticateKey(text)))
  expect(recognised?.caller).toMatchObject({ organizationId, scopes: ["events:read", "digest:read"] })
  expect((await admin.get(path)).text).not.toContain(text)

  const rotated = await admin.post(`/keys/${key.id}/rotate`, { overlap: "1h" })
  expect(rotated.words).toContain("stays valid for 1 hour")
  const asked = await admin.get(`/keys/${key.id}/revoke`)
  expect(asked.words).toContain("Whom it concernsAcme Health")
  expect(asked.words).toContain("A revoked key is never valid again.")
  const wrong = await admin.post(`/keys/${key.id}/revoke`, { typed: "Reports" })
  expect([wrong.status, wrong.words]).toEqual([409, expect.stringContaining("What was typed is not “Nightly sync”")])
  expect((await admin.post(`/keys/${key.id}/revoke`, { typed: "Nightly sync" })).words).toContain("Revoked")
  const keys = await test().run(Effect.flatMap(ApiKeyRepository, ({ list }) => list(organizationId)))
  expect(keys.map(({ name, revokedAt }) => [name, revokedAt !== null])).toEqual([
    ["Nightly sync", true],
    ["Reports", false],
    ["Nightly sync", false],
  ])
  expect(
    (await admin.post(`${path}/keys`, { name: "Late", scopes: "events:read", expires: "2020-01-01T00:00:00Z" })).words,
  ).toContain("choose a time in the future")
})

it("rotates a secret, and says that the partner still signs with the old one, and when last", async () => {
  const { organizationId, endpoint, secret: old, path } = await seed()
  const receiver = await startProcess("api", test().databaseUrl)
  const admin = await test().as("admin")
  const rotated = await admin.post(`${path}/secrets/rotate`, { grace: "24h" })
  const text = rotated.document.querySelector("main pre")!.textContent!.trim()
  expect(text).toMatch(/^whsec_[0-9A-Za-z]{43}$/)
  expect((await admin.get(path)).words).not.toContain("still signs with the old secret")

  const send = async (secret: Redacted.Redacted, eventId: string) => {
    const body = JSON.stringify({ ...eventExamples["clinician.account_created"], event_id: eventId })
    const timestamp = Math.floor(Date.now() / 1000)
    const signature = sign(body, [Redacted.value(secret)], { timestamp })
    const response = await fetch(`${receiver}/v1/partners/consumer/webhooks/${endpoint.id}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-signature": signature },
      body,
    })
    return response.status
  }
  expect(await send(old, `evt_${"a".repeat(32)}`)).toBe(200)
  const [, used] = await eventually(
    () => secretsOf(organizationId),
    ([, old]) => old?.lastVerifiedAt !== null,
  )
  const time = used!.lastVerifiedAt!.slice(0, 19).replace("T", " ")
  for (const page of [path, `/endpoints/${endpoint.id}`]) {
    const { words } = await admin.get(page)
    expect(words).toContain(`The partner still signs with the old secret ${used!.id}, last at ${time}`)
    expect(words).toContain(`to ${endpoint.id}`)
  }
  expect(await send(Redacted.make(text), `evt_${"b".repeat(32)}`)).toBe(200)
  await eventually(
    () => secretsOf(organizationId),
    ([next]) => next!.lastVerifiedAt !== null,
  )
  expect((await admin.get(path)).words).toMatch(/Webhooks from the partner by the hour/)

  expect((await admin.post(`/secrets/${used!.id}/revoke`, { typed: "Acme Health" })).words).toContain("Revoked")
  expect((await admin.get(path)).words).not.toContain("still signs with the old secret")
})

it("keeps keys and secrets from those who are no admins, and partners from operators of another", async () => {
  const [mine, other] = [await seed(), await seed()]
  const operator = await test().as("operator")
  expect((await operator.post(`${mine.path}/keys`, { name: "x", scopes: "events:read" })).status).toBe(403)
  expect((await operator.post(`${mine.path}/secrets/rotate`)).status).toBe(403)
  const bound = await test().as("admin", mine.organizationId)
  const [secret] = await secretsOf(other.organizationId)
  expect((await bound.get(mine.path)).status).toBe(200)
  for (const answer of [
    await bound.get(other.path),
    await bound.post(`/keys/${other.key.id}/rotate`),
    await bound.post(`/keys/${other.key.id}/revoke`, { typed: "Nightly sync" }),
    await bound.post(`/secrets/${secret!.id}/revoke`, { typed: "Acme Health" }),
    await bound.post(`${other.path}/secrets/rotate`),
  ]) {
    expect(answer.status).toBe(404)
  }
  const listed = await bound.get("/partners")
  expect([...listed.document.querySelectorAll("tbody a")].map((link) => link.getAttribute("href"))).toEqual([mine.path])
})

it("masks the contacts until they are shown, and lets an admin replace them", async () => {
  const { path } = await seed()
  const admin = await test().as("admin")
  const replaced = await admin.post(`${path}/contacts`, { contact: "ann@acme.example, bob@acme.example" })
  expect(replaced.words).toContain("The contacts were replaced")
  const viewer = await test().as("viewer")
  expect((await viewer.get(path)).words).toContain("a•••@acme.example")
  expect((await viewer.get(path)).text).not.toContain("ann@acme.example")
  expect((await viewer.post(`${path}/show`)).status).toBe(403)
  const operator = await test().as("operator")
  expect((await operator.post(`${path}/show`)).words).toContain("ann@acme.example, bob@acme.example")
  expect((await operator.post(`${path}/contacts`, { contact: "eve@acme.example" })).status).toBe(403)
  for (const contact of [
    "ann at acme",
    "a@acme.example,",
    "",
    Array(11)
      .fill(0)
      .map((_, n) => `a${n}@acme.example`)
      .join(),
  ]) {
    const refused = await admin.post(`${path}/contacts`, { contact })
    expect({ contact, status: refused.status }).toEqual({ contact, status: 400 })
    expect(refused.text).not.toContain("ann at acme")
  }
  expect((await admin.post(`${path}/contacts`, { contact: "none" })).words).toContain(
    "Nobody is notified when an endpoint fails",
  )
})
