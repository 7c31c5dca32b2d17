import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecrets"
import { ApiKeyRepository, issueKey } from "@outreach/domain/organizations/ApiKeys"
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
it("shows a new key once, rotates a key, and revokes it when its name was typed", async () => {
  const { organizationId, key, path } = await seed()
  const admin = await test().as("admin")
  const issued = await admin.post(`${path}/keys`, { name: "Reports", scopes: "events:read,digest:read" })
  const text = issued.document.querySelector("main pre")!.textContent!.trim()
  const recognized = await test().run(Effect.flatMap(ApiKeyRepository, ({ authenticateKey }) => authenticateKey(text)))
  expect(recognized?.caller).toMatchObject({ organizationId, scopes: ["events:read", "digest:read"] })
  expect((await admin.get(path)).text).not.toContain(text)

  const rotated = await admin.post(`/keys/${key.id}/rotate`, { overlap: "1h" })
  expect(rotated.words).toContain("is valid for at most 1 hour")
  expect((await admin.post(`/keys/${key.id}/revoke`, { typed: "Nightly sync" })).words).toContain("Revoked")
  const keys = await test().run(Effect.flatMap(ApiKeyRepository, ({ list }) => list(organizationId)))
  expect(keys.map(({ name, revokedAt }) => [name, revokedAt !== null])).toEqual([
    ["Nightly sync", true],
    ["Reports", false],
    ["Nightly sync", false],
  ])
})

it("shows a new secret once, and who still signs with the old one until that is revoked", async () => {
  const { organizationId, endpoint, path } = await seed()
  const admin = await test().as("admin")
  const rotated = await admin.post(`${path}/secrets/rotate`, { grace: "24h" })
  const text = rotated.document.querySelector("main pre")!.textContent!.trim()
  expect(text).toMatch(/^whsec_[0-9A-Za-z]{44}$/)
  const before = await admin.get(path)
  expect(before.text).not.toContain(text)
  expect(before.words).not.toContain("still signs with the old secret")

  const list = SigningSecretRepository.use((secrets) => secrets.list({ organizationId }))
  const [, old] = await test().run(list)
  await test().run(SigningSecretRepository.use(({ noteVerification }) => noteVerification(old!.id)))
  const [, used] = await test().run(list)
  const time = used!.lastVerifiedAt!.slice(0, 19).replace("T", " ")
  for (const page of [path, `/endpoints/${endpoint.id}/secrets`]) {
    const { words } = await admin.get(page)
    expect(words).toContain(`The partner still signs with the old secret ${old!.id}, last at ${time}`)
  }
  expect((await admin.post(`/secrets/${old!.id}/revoke`, { typed: "Acme Health" })).words).toContain("Revoked")
  expect((await admin.get(path)).words).not.toContain("still signs with the old secret")
})

it("masks the contacts until they are shown, and lets an admin replace them", async () => {
  const { path } = await seed()
  const admin = await test().as("admin")
  const replaced = await admin.post(`${path}/contacts`, { contact: "ann@acme.example, bob@acme.example" })
  expect(replaced.words).toContain("Contacts replaced")
  const masked = await admin.get(path)
  expect(masked.words).toContain("a•••@acme.example")
  expect(masked.text).not.toContain("ann@acme.example")
  expect((await admin.post(`${path}/show`)).words).toContain("ann@acme.example, bob@acme.example")
  const refused = await admin.post(`${path}/contacts`, { contact: "ann at acme" })
  expect([refused.status, refused.text]).toEqual([400, expect.not.stringContaining("ann at acme")])
  const none = await admin.post(`${path}/contacts`, { "no-contacts": "yes" })
  expect(none.words).toContain("No one is notified when an endpoint fails")
})
