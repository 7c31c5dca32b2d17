import { describe, expect } from "@effect/vitest"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { createEndpoint, EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import {
  MAX_ACTIVE_SECRETS,
  rotateSecret,
  rotateSecretWithinBound,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecrets"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { migratedDatabase, testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Redacted } from "effect"

const url = migratedDatabase()
const { test } = testsOnDatabase({ url })

const organization = Effect.gen(function* () {
  const { id } = yield* createOrganization("Acme")
  const { endpoint } = yield* createEndpoint({ organizationId: id, url: "https://a.example/" })
  return { id, endpointId: endpoint.id }
})
const active = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const owner = yield* (yield* SigningSecretRepository).ofEndpoint(endpointId)
  return owner!.secrets.map(({ secret }) => Redacted.value(secret)).sort()
})
const texts = (...secrets: ReadonlyArray<Redacted.Redacted>) => secrets.map(Redacted.value).sort()

describe("SigningSecretRepositoryPg", () => {
  test("creates secrets of the documented format, and keeps the old one only for its grace window", function* () {
    const { id, endpointId } = yield* organization
    expect(yield* active(endpointId)).toEqual([])
    const first = yield* rotateSecret(id, 3600)
    const second = yield* rotateSecret(id, 3600)
    expect(Redacted.value(first)).toMatch(/^whsec_[0-9A-Za-z]{44}$/)
    expect(yield* active(endpointId)).toEqual(texts(first, second))
    const third = yield* rotateSecret(id, 0)
    expect(yield* active(endpointId)).toEqual(texts(third))
  })

  test("never extends the remaining time of an expiring secret", function* () {
    const { id } = yield* organization
    yield* rotateSecret(id, 0)
    yield* rotateSecret(id, 60)
    yield* rotateSecret(id, 86_400)
    const rows = yield* sql`
      select from signing_secrets
      where organization_id = ${id} and expires_at > clock_timestamp() + interval '90 seconds'`
    expect(rows).toHaveLength(1)
  })

  test("sees all secrets during concurrent rotations", function* () {
    const { id, endpointId } = yield* organization
    yield* Effect.replicateEffect(rotateSecret(id, 0), 8, { concurrency: 8 })
    expect(yield* active(endpointId)).toHaveLength(1)
  })

  test("finds the owner of a secret, even after it expired, and returns undefined for an unknown one", function* () {
    const secrets = yield* SigningSecretRepository
    const { id, endpointId } = yield* organization
    const [shared, own] = [yield* rotateSecret(id, 0), (yield* rotateSecretWithinBound({ endpointId }, 0)).secret]
    yield* rotateSecret(id, 0)
    expect(yield* secrets.findByText(shared)).toMatchObject({ organizationId: id, endpointId: null })
    expect(yield* secrets.findByText(own)).toMatchObject({ organizationId: id, endpointId })
    expect(yield* secrets.findByText(Redacted.make("whsec_another"))).toBeUndefined()
  })
})

const createOwn = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const given = { organizationId, url: "https://own.test/hooks", ownSecrets: true }
  const { endpoint, secret } = yield* createEndpoint(given)
  return { endpoint, secret: secret! }
})
/** The secrets that verify at an endpoint; asserts that a worker signs with the same ones. */
const signingFor = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const owner = yield* (yield* SigningSecretRepository).ofEndpoint(endpointId)
  const verifying = owner!.secrets.map(({ secret }) => Redacted.value(secret))
  const signing = (yield* (yield* DeliveryLeases).secrets([{ endpointId, version: 0 }])).get(endpointId)?.signing ?? []
  expect(signing.map(({ secret }) => Redacted.value(secret)).sort()).toEqual([...verifying].sort())
  return verifying.sort()
})
describe("an endpoint with dedicated secrets", () => {
  test("is only signed for with its secrets; the organization's secrets stay for the other endpoints", function* () {
    const { organization, endpoint: shared, secret } = yield* seedCampaign({ recipients: 0 })
    const own = yield* createOwn(organization.id)
    const other = yield* createOwn(organization.id)
    expect(own.endpoint.ownSecrets).toBe(true)
    expect(yield* signingFor(own.endpoint.id)).toEqual(texts(own.secret))
    expect(yield* signingFor(other.endpoint.id)).toEqual(texts(other.secret))
    expect(yield* signingFor(shared.id)).toEqual(texts(secret))
    const next = yield* rotateSecret(organization.id, 0)
    expect(yield* signingFor(own.endpoint.id)).toEqual(texts(own.secret))
    expect(yield* signingFor(shared.id)).toEqual(texts(next))
    const { secret: newest } = yield* rotateSecretWithinBound({ endpointId: own.endpoint.id }, 3600)
    expect(yield* signingFor(own.endpoint.id)).toEqual(texts(newest, own.secret))
    expect(yield* signingFor(other.endpoint.id)).toEqual(texts(other.secret))
  })

  test("is also signed for with the organization's secret until the grace window of its first one is over", function* () {
    const { organization, endpoint, secret } = yield* seedCampaign({ recipients: 0 })
    const { find } = yield* EndpointRepository
    const { secret: own } = yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 3600)
    expect((yield* find(endpoint.id)).ownSecrets).toBe(true)
    expect(yield* signingFor(endpoint.id)).toEqual(texts(own, secret))
    const [first, second] = (yield* (yield* DeliveryLeases).secrets([{ endpointId: endpoint.id, version: 0 }])).get(
      endpoint.id,
    )!.signing
    expect(first!.endsInMs).toBeNull()
    expect(second!.endsInMs).toBeLessThanOrEqual(3_600_000)
    // A secret that the organization revokes in the meantime also expires here.
    const next = yield* rotateSecret(organization.id, 0)
    expect(yield* signingFor(endpoint.id)).toEqual(texts(own, next))
    // A later rotation of the endpoint's secret doesn't extend the overlap.
    const { secret: newest } = yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 86_400)
    expect(yield* signingFor(endpoint.id)).toEqual(texts(newest, own, next))
    yield* sql`update webhook_endpoints set shared_secrets_until = clock_timestamp() where id = ${endpoint.id}`
    expect(yield* signingFor(endpoint.id)).toEqual(texts(newest, own))
  })

  test("stops using the organization's secret immediately without a grace window", function* () {
    const { endpoint } = yield* seedCampaign({ recipients: 0 })
    const { secret } = yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 0)
    expect(yield* signingFor(endpoint.id)).toEqual(texts(secret))
  })

  test("has at most as many active secrets as a signature may have, including those of the organization", function* () {
    const { organization, endpoint } = yield* seedCampaign({ recipients: 0 })
    yield* Effect.forEach(Array.from({ length: 20 }), () => rotateSecret(organization.id, 3600))
    const rotated = yield* Effect.forEach(Array.from({ length: 20 }), () =>
      rotateSecretWithinBound({ endpointId: endpoint.id }, 3600),
    )
    expect(rotated.map(({ ended }) => ended)).toEqual([...Array(16).fill(0), ...Array(4).fill(1)])
    const newest = rotated.slice(-MAX_ACTIVE_SECRETS).map(({ secret }) => secret)
    expect(yield* signingFor(endpoint.id)).toEqual(texts(...newest.toReversed()))
  })

  test("changes its version when its active secrets change, but not for other secrets", function* () {
    const { organization, endpoint: shared } = yield* seedCampaign({ recipients: 0 })
    const { endpoint } = yield* createOwn(organization.id)
    const { find } = yield* EndpointRepository
    const versions = Effect.map(Effect.all([find(endpoint.id), find(shared.id)]), (found) =>
      found.map(({ version }) => version),
    )
    const [own, others] = yield* versions
    yield* rotateSecret(organization.id, 0)
    const [sameOwn, newOthers] = yield* versions
    expect(sameOwn).toBe(own)
    expect(newOthers).toBeGreaterThan(others!)
    yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 0)
    const [newOwn, sameOthers] = yield* versions
    expect(newOwn).toBeGreaterThan(own!)
    expect(sameOthers).toBe(newOthers)
  })

  test("is listed with the organization's secrets and on its own", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    const { endpoint } = yield* createOwn(organization.id)
    const { list, find } = yield* SigningSecretRepository
    const listed = yield* list({ organizationId: organization.id })
    expect(listed.map(({ endpointId }) => endpointId)).toEqual([endpoint.id, null])
    expect(yield* list({ endpointId: endpoint.id })).toMatchObject([{ endpointId: endpoint.id }])
    // The organization's secret can't replace it.
    expect(yield* find(listed[0]!.id)).toMatchObject({ isActive: true, activeOthers: 0 })
  })

  test("waits if its only secret is revoked, even if the organization has one", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    const { endpoint } = yield* createOwn(organization.id)
    const { list, revoke } = yield* SigningSecretRepository
    const [secret] = yield* list({ endpointId: endpoint.id })
    yield* revoke(secret!.id)
    expect(yield* signingFor(endpoint.id)).toEqual([])
  })

  test("doesn't lose a secret during concurrent rotations and a revocation", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    const { endpoint } = yield* createOwn(organization.id)
    const { list, revoke } = yield* SigningSecretRepository
    const [first] = yield* list({ endpointId: endpoint.id })
    yield* Effect.all(
      [
        ...Array.from({ length: 6 }, () => rotateSecretWithinBound({ endpointId: endpoint.id }, 0)),
        revoke(first!.id),
        rotateSecret(organization.id, 0),
      ],
      { concurrency: 8 },
    )
    expect(yield* signingFor(endpoint.id)).toHaveLength(1)
  })
})

/** Seeds an organization with an expired first secret. */
const seeded = Effect.gen(function* () {
  const { organization } = yield* seedCampaign({ recipients: 0 })
  yield* rotateSecret(organization.id, 0)
  return organization.id
})

test("SigningSecretRepositoryPg.list lists secrets newest first, with their expiry and without their text", function* () {
  const organizationId = yield* seeded
  const { list } = yield* SigningSecretRepository
  const [second, first, ...others] = yield* list({ organizationId })
  expect(others).toEqual([])
  expect(first).toMatchObject({ organizationId, expiresAt: expect.any(String) })
  expect(second).toEqual({
    organizationId,
    id: expect.stringMatching(/^sec_[0-9a-f]{32}$/),
    endpointId: null,
    createdAt: expect.any(String),
    expiresAt: null,
    lastVerifiedAt: null,
  })
})
