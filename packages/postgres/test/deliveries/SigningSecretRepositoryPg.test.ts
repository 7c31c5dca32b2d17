import { describe, expect } from "@effect/vitest"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret, rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier, type EndpointId, type OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"

const test = effectTest(runOnDatabase())

/** Creates an organization with an endpoint. */
const organization = Effect.gen(function* () {
  const { id } = yield* (yield* OrganizationRepository).create(yield* createIdentifier("organization"), "Acme")
  return { id, endpointId: (yield* endpointOf(id)).id }
})
const endpointOf = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const id = yield* createIdentifier("endpoint")
  return yield* (yield* EndpointRepository).create({ organizationId, id, url: EndpointUrl.make("https://a.example/") })
})
/** The texts that sign for an endpoint. */
const active = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const owner = yield* (yield* SigningSecretRepository).ofEndpoint(endpointId)
  return owner!.secrets.map(({ secret }) => Redacted.value(secret)).sort()
})
const texts = (...secrets: ReadonlyArray<Redacted.Redacted>) => secrets.map(Redacted.value).sort()

describe("SigningSecretRepositoryPg", () => {
  test("makes secrets of the documented form, and keeps the old one through its grace window only", function* () {
    const { id, endpointId } = yield* organization
    expect(yield* active(endpointId)).toEqual([])
    const first = yield* rotateSecret(id, 3600)
    const second = yield* rotateSecret(id, 3600)
    expect(Redacted.value(first)).toMatch(/^whsec_[0-9A-Za-z]{43}$/)
    expect(yield* active(endpointId)).toEqual(texts(first, second))
    const third = yield* rotateSecret(id, 0)
    expect(yield* active(endpointId)).toEqual(texts(third))
  })

  test("never lengthens the life of a secret that is on its way out", function* () {
    const sql = yield* SqlClient.SqlClient
    const { id } = yield* organization
    yield* rotateSecret(id, 0)
    yield* rotateSecret(id, 60)
    yield* rotateSecret(id, 86_400)
    const rows = yield* sql<{ expires_at: string | null }>`
      select expires_at from signing_secrets
      where organization_id = ${id} and expires_at > clock_timestamp() + interval '90 seconds'`
    expect(rows).toHaveLength(1)
  })

  test("ends the oldest secret at the 17th rotation within the grace window, and says so", function* () {
    const { id, endpointId } = yield* organization
    const rotated = yield* Effect.forEach(Array.from({ length: 17 }), () =>
      rotateSecretWithinBound({ organizationId: id }, 3600),
    )
    expect(rotated.map(({ ended }) => ended)).toEqual([...Array(16).fill(0), 1])
    expect(yield* active(endpointId)).toEqual(texts(...rotated.slice(1).map(({ secret }) => secret)))
  })

  test("overlooks no secret when rotations run at the same time", function* () {
    const { id, endpointId } = yield* organization
    yield* Effect.all(
      Array.from({ length: 8 }, () => rotateSecret(id, 0)),
      { concurrency: 8 },
    )
    expect(yield* active(endpointId)).toHaveLength(1)
  })

  test("keeps no secret's text", function* () {
    const sql = yield* SqlClient.SqlClient
    const { id } = yield* organization
    const secret = yield* rotateSecret(id, 0)
    const rows = yield* sql<{ ciphertext: Uint8Array }>`
      select ciphertext from signing_secrets where organization_id = ${id}`
    expect(Buffer.from(rows[0]!.ciphertext).includes(Redacted.value(secret).slice(6, 20))).toBe(false)
  })

  test("finds whose a secret is by its text, also once it is over, and nothing by another one", function* () {
    const secrets = yield* SigningSecretRepository
    const { id, endpointId } = yield* organization
    const [shared, own] = [yield* rotateSecret(id, 0), (yield* rotateSecretWithinBound({ endpointId }, 0)).secret]
    yield* rotateSecret(id, 0)
    expect(yield* secrets.findByText(shared)).toMatchObject({ organizationId: id, endpointId: null })
    expect(yield* secrets.findByText(own)).toMatchObject({ organizationId: id, endpointId })
    expect(yield* secrets.findByText(Redacted.make("whsec_another"))).toBeUndefined()
  })

  test("refuses an organization that does not exist", function* () {
    const organizationId = yield* createIdentifier("organization")
    const refusal = yield* Effect.flip(rotateSecret(organizationId, 0))
    expect(refusal).toMatchObject({ _tag: "OrganizationNotFound", organizationId })
  })
})
