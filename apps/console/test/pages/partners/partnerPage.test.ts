import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { EventFeed, feedFrom } from "@outreach/postgres/events/EventFeed"
import { PartnerActivity } from "@outreach/postgres/organizations/PartnerActivity"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { startConsole } from "../../startConsole.ts"

const test = startConsole()

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

it("shows the use of each key's limit, its errors, and the lag of its poller", async () => {
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
  const { words } = await viewer.get(path)
  expect(words).toContain("100 of 100")
  expect(words).toMatch(/2,000\s*25 %/)
  expect(words).toMatch(/RATE_LIMITED\s*Nightly sync\s*500/)
  expect(words).toMatch(/INVALID_SIGNATURE\s*whe_[0-9a-f]+\s*3/)
  expect(words).toMatch(/Nightly sync\s*Events\s*Reading\s*2/)
  expect((await viewer.get("/partners")).words).toMatch(/2,003/)
})

it("shows a new key once, rotates a key, and revokes it when its name was typed", async () => {
  const { organizationId, key, path } = await seed()
  const admin = await test().as("admin")
  const issued = await admin.post(`${path}/keys`, { name: "Reports", scopes: "events:read,digest:read" })
  const text = issued.document.querySelector("main pre")!.textContent!.trim()
  const recognized = await test().run(Effect.flatMap(ApiKeyRepository, ({ authenticateKey }) => authenticateKey(text)))
  expect(recognized?.caller).toMatchObject({ organizationId, scopes: ["events:read", "digest:read"] })
  expect((await admin.get(path)).text).not.toContain(text)

  const rotated = await admin.post(`/keys/${key.id}/rotate`, { overlap: "1h" })
  expect(rotated.words).toContain("stays valid for 1 hour")
  const wrong = await admin.post(`/keys/${key.id}/revoke`, { typed: "Reports" })
  expect([wrong.status, wrong.words]).toEqual([409, expect.stringContaining("What was typed is not “Nightly sync”")])
  expect((await admin.post(`/keys/${key.id}/revoke`, { typed: "Nightly sync" })).words).toContain("Revoked")
  const keys = await test().run(Effect.flatMap(ApiKeyRepository, ({ list }) => list(organizationId)))
  expect(keys.map(({ name, revokedAt }) => [name, revokedAt !== null])).toEqual([
    ["Nightly sync", true],
    ["Reports", false],
    ["Nightly sync", false],
  ])
  const late = { name: "Late", scopes: "events:read", expires: "2020-01-01T00:00:00Z" }
  expect((await admin.post(`${path}/keys`, late)).words).toContain("choose a time in the future")
})

it("shows a new secret once, and who still signs with the old one until that is revoked", async () => {
  const { organizationId, endpoint, path } = await seed()
  const admin = await test().as("admin")
  const rotated = await admin.post(`${path}/secrets/rotate`, { grace: "24h" })
  const text = rotated.document.querySelector("main pre")!.textContent!.trim()
  expect(text).toMatch(/^whsec_[0-9A-Za-z]{43}$/)
  const before = await admin.get(path)
  expect(before.text).not.toContain(text)
  expect(before.words).not.toContain("still signs with the old secret")

  const list = SigningSecretRepository.use((secrets) => secrets.list({ organizationId }))
  const [, old] = await test().run(list)
  await activity(({ noteVerifications }) =>
    noteVerifications([{ organizationId, secretId: old!.id, endpointId: endpoint.id }]),
  )
  const [, used] = await test().run(list)
  const time = used!.lastVerifiedAt!.slice(0, 19).replace("T", " ")
  for (const page of [path, `/endpoints/${endpoint.id}`]) {
    const { words } = await admin.get(page)
    expect(words).toContain(`The partner still signs with the old secret ${old!.id}, last at ${time}`)
    expect(words).toContain(`to ${endpoint.id}`)
  }
  expect((await admin.post(`/secrets/${old!.id}/revoke`, { typed: "Acme Health" })).words).toContain("Revoked")
  expect((await admin.get(path)).words).not.toContain("still signs with the old secret")
})

it("masks the contacts until they are shown, and lets an admin replace them", async () => {
  const { path } = await seed()
  const admin = await test().as("admin")
  const replaced = await admin.post(`${path}/contacts`, { contact: "ann@acme.example, bob@acme.example" })
  expect(replaced.words).toContain("The contacts were replaced")
  const masked = await admin.get(path)
  expect(masked.words).toContain("a•••@acme.example")
  expect(masked.text).not.toContain("ann@acme.example")
  expect((await admin.post(`${path}/show`)).words).toContain("ann@acme.example, bob@acme.example")
  const tooMany = Array.from({ length: 11 }, (_, n) => `a${n}@acme.example`).join()
  for (const contact of ["ann at acme", "a@acme.example,", "", tooMany]) {
    const refused = await admin.post(`${path}/contacts`, { contact })
    expect({ contact, status: refused.status }).toEqual({ contact, status: 400 })
    expect(refused.text).not.toContain("ann at acme")
  }
  const none = await admin.post(`${path}/contacts`, { contact: "none" })
  expect(none.words).toContain("Nobody is notified when an endpoint fails")
})
