import { describe, expect } from "@effect/vitest"
import { ApiKeyRepository, issueKey, rotateKey } from "@outreach/domain/organizations/ApiKeys"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { column, sql } from "@outreach/testing/sql"
import { Effect, Exit, Redacted } from "effect"

const { test } = testsOnDatabase()

const issue = Effect.gen(function* () {
  const organization = yield* createOrganization("Acme")
  return yield* issueKey({
    organizationId: organization.id,
    name: "reporting",
    scopes: ["tokens:read"],
    expiresAt: null,
  })
})
const authenticateKey = (text: Redacted.Redacted) =>
  Effect.flatMap(ApiKeyRepository, (keys) => keys.authenticateKey(Redacted.value(text)))

describe("ApiKeyRepositoryPg", () => {
  test("recognises an issued key and counts each of its requests", function* () {
    const { key, text } = yield* issue
    const first = yield* authenticateKey(text)
    expect(first).toMatchObject({
      caller: { organizationId: key.organizationId, keyId: key.id, scopes: ["tokens:read"] },
      count: 1,
    })
    expect((yield* authenticateKey(text))?.count).toBe(2)
    expect(Math.abs(first!.now - Date.now() / 1000)).toBeLessThan(5)
  })

  test("doesn't store the text of a key", function* () {
    const { text } = yield* issue
    const rows = yield* column<string>`select k::text as row from api_keys k`
    expect(rows.some((row) => row.includes(Redacted.value(text).slice(9, 39)))).toBe(false)
  })

  test("finds a key by its text without counting a use, also after its revocation, when it is rejected", function* () {
    const keys = yield* ApiKeyRepository
    const { key, text } = yield* issue
    expect(yield* keys.findByText(text)).toEqual(key)
    expect((yield* authenticateKey(text))!.count).toBe(1)
    const revoked = yield* keys.revoke(key.id)
    expect(yield* authenticateKey(text)).toBeUndefined()
    expect(yield* keys.findByText(text)).toEqual({ ...revoked, lastUsedAt: expect.any(String) })
    expect(yield* keys.findByText((yield* issue).text)).not.toMatchObject({ id: key.id })
    expect(yield* keys.findByText(Redacted.make("orp_live_"))).toBeUndefined()
  })

  test("keeps a rotated key valid for the overlap, and its successor afterwards", function* () {
    const old = yield* issue
    const next = yield* rotateKey(old.key.id, 3600)
    expect((yield* authenticateKey(old.text))?.count).toBe(1)
    expect((yield* authenticateKey(next.text))?.caller.scopes).toEqual(["tokens:read"])
    yield* rotateKey(old.key.id, 0)
    expect(yield* authenticateKey(old.text)).toBeUndefined()
  })

  for (const operation of ["insert", "update"]) {
    test(`rotates a key in one commit: a failed ${operation} doesn't change anything`, function* () {
      const { key } = yield* issue
      const keys = yield* ApiKeyRepository
      yield* sql`create function fail() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`
      yield* sql`create trigger fail before ${sql.literal(operation)} on api_keys execute function fail()`
      expect(Exit.isFailure(yield* Effect.exit(rotateKey(key.id, 3600)))).toBe(true)
      yield* sql`drop function fail cascade`
      expect(yield* keys.list(key.organizationId)).toEqual([key])
      yield* rotateKey(key.id, 3600)
      expect(yield* keys.list(key.organizationId)).toHaveLength(2)
    })
  }

  test("doesn't rotate a revoked key", function* () {
    const { key } = yield* issue
    yield* (yield* ApiKeyRepository).revoke(key.id)
    expect(yield* Effect.flip(rotateKey(key.id, 3600))).toMatchObject({ _tag: "KeyRevoked" })
    expect(yield* (yield* ApiKeyRepository).list(key.organizationId)).toHaveLength(1)
  })

  test("counts exactly under concurrency", function* () {
    const { text } = yield* issue
    const admissions = yield* Effect.replicateEffect(authenticateKey(text), 60, { concurrency: 20 })
    // If a minute ends meanwhile, both windows start counting at one.
    const windows = new Set(admissions.map((admission) => Math.floor(admission!.now / 60)))
    const counts = [...windows].flatMap((window) => {
      const own = admissions.filter((admission) => Math.floor(admission!.now / 60) === window)
      expect(own.map((admission) => admission!.count).sort((a, b) => a - b)).toEqual(own.map((_, i) => i + 1))
      return own
    })
    expect(counts).toHaveLength(60)
  })

  test("admits each request of a batch with its key, and rejects unknown keys", function* () {
    const [first, second, revoked] = [yield* issue, yield* issue, yield* issue]
    yield* (yield* ApiKeyRepository).revoke(revoked.key.id)
    const stranger = Redacted.make(`${Redacted.value(first.text)}x`)
    const asked = Array.from({ length: 60 }, (_, i) => [first, second, revoked, { text: stranger }][i % 4]!.text)
    const admissions = yield* Effect.all(asked.map(authenticateKey), { concurrency: "unbounded" })
    for (const [at, key] of [first.key, second.key].entries()) {
      const own = admissions.filter((_, i) => i % 4 === at)
      expect(own.map((admission) => admission?.caller.keyId)).toEqual(own.map(() => key.id))
    }
    expect(admissions.filter((admission) => admission === undefined)).toHaveLength(30)
  })
})
