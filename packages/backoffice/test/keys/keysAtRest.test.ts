import { describe, expect } from "@effect/vitest"
import { createEndpoint, EndpointRepository, removeEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { singleKey } from "@outreach/process/keyRing"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { column, sql, untilBlocked, whileOpen } from "@outreach/testing/sql"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { countCiphertexts, listKeyUses, resealCiphertexts } from "../../src/keys/keysAtRest.ts"

const { test } = testsOnDatabase()

const keyOf = (byte: number) => Redacted.make(Buffer.alloc(32, byte))
const [k1] = SECRETS_RING
const k2 = { id: "k2", mark: 2, key: keyOf(8) }
const lost = SecretCipher.make(singleKey(keyOf(9)))
const [before, ring, after] = [SecretCipher.make([k1]), SecretCipher.make([k2, k1]), SecretCipher.make([k2])]

const ORGANIZATION = `org_${"1".repeat(32)}`
const textOf = (n: number) => `whsec_${n}`
const ignore = () => Effect.void
const withRing = Effect.provideService(SecretCipher, ring)

/** Empties the table, and stores secrets; some are encrypted with the newest key, some with a removed key. */
const store = Effect.fnUntraced(function* (
  count: number,
  newest: ReadonlyArray<number> = [],
  gone: ReadonlyArray<number> = [],
) {
  yield* sql`delete from signing_secrets`
  yield* sql`insert into organizations (id, name) values (${ORGANIZATION}, 'Acme') on conflict do nothing`
  const cipherOf = (n: number) => (newest.includes(n) ? ring : gone.includes(n) ? lost : before)
  const numbers = Array.from({ length: count }, (_, n) => n)
  const ciphertexts = numbers.map((n) =>
    Buffer.from(cipherOf(n).encrypt(Redacted.make(textOf(n)), ORGANIZATION)).toString("hex"),
  )
  yield* sql`
    insert into signing_secrets (id, organization_id, ciphertext)
    select 'sec_' || lpad(n::text, 32, '0'), ${ORGANIZATION}, decode(ciphertext, 'hex')
    from unnest(${numbers}::int[], ${ciphertexts}::text[]) as secret (n, ciphertext)`
})
const stored = sql<{ ciphertext: Uint8Array }>`select ciphertext from signing_secrets order by id`
const uses = Effect.map(withRing(listKeyUses(ignore)), (found) =>
  found.flatMap(({ table, keyId, ciphertexts }) => (table === "signing_secrets" ? [[table, keyId, ciphertexts]] : [])),
)

describe("keysAtRest", () => {
  test("counts by key, re-encrypts secrets of older keys, and skips undecryptable ones", function* () {
    yield* store(20, [3, 4], [7])
    expect(yield* countCiphertexts).toBe(20)
    expect(yield* uses).toEqual([
      ["signing_secrets", "k2", 2],
      ["signing_secrets", "k1", 17],
      ["signing_secrets", null, 1],
    ])
    const [old, done] = [yield* stored, yield* withRing(resealCiphertexts(ignore))]
    expect(done).toEqual({ resealed: 17, already: 2, unopened: 1 })
    for (const [n, { ciphertext }] of (yield* stored).entries()) {
      if ([3, 4, 7].includes(n)) expect(ciphertext).toEqual(old[n]!.ciphertext)
      else expect(Redacted.value(after.decrypt(ciphertext, ORGANIZATION))).toBe(textOf(n))
      expect(before.keyIdOf(ciphertext, ORGANIZATION)).toBeUndefined()
    }
    expect(yield* uses).toEqual([
      ["signing_secrets", "k2", 19],
      ["signing_secrets", "k1", 0],
      ["signing_secrets", null, 1],
    ])
  })

  test("re-encrypts an endpoint's secrets; a removed endpoint has none", function* () {
    yield* store(0)
    const { organization, endpoint } = yield* seedCampaign({ recipients: 0 })
    const given = { organizationId: organization.id, url: "https://own.test/hooks", ownSecrets: true }
    const gone = yield* createEndpoint(given)
    const { secret } = yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 3600)
    yield* removeEndpoint(gone.endpoint.id)
    // The organization's secret and the endpoint's secret.
    expect(yield* withRing(resealCiphertexts(ignore))).toEqual({ resealed: 2, already: 0, unopened: 0 })
    expect(yield* uses).toEqual([
      ["signing_secrets", "k2", 2],
      ["signing_secrets", "k1", 0],
    ])
    const rows = yield* sql<{ endpointId: string; ciphertext: Uint8Array | null }>`
      select endpoint_id as "endpointId", ciphertext from signing_secrets where endpoint_id is not null order by created_at`
    expect(rows.map(({ endpointId }) => endpointId)).toEqual([gone.endpoint.id, endpoint.id])
    expect(rows[0]!.ciphertext).toBeNull()
    expect(Redacted.value(after.decrypt(rows[1]!.ciphertext!, organization.id))).toBe(Redacted.value(secret))
  })

  test("re-encrypts the headers of an endpoint without changing its version", function* () {
    yield* store(0)
    const { organization } = yield* seedCampaign({ recipients: 0 })
    const headers = Redacted.make({ "X-Api-Key": "t0psecret" })
    const { endpoint } = yield* createEndpoint({ organizationId: organization.id, url: "https://a.test/", headers })
    expect(yield* withRing(resealCiphertexts(ignore))).toMatchObject({ resealed: 2 })
    const [sealed] = yield* sql<{ ciphertext: Uint8Array }>`
      select ciphertext from endpoint_headers where endpoint_id = ${endpoint.id}`
    expect(Redacted.value(after.decrypt(sealed!.ciphertext, organization.id))).toBe(`{"X-Api-Key":"t0psecret"}`)
    const version = (yield* EndpointRepository.use(({ find }) => find(endpoint.id))).version
    expect(version).toBe(endpoint.version)
    yield* sql`delete from endpoint_headers`
  })

  test("covers every table with ciphertexts", function* () {
    const tables = yield* column<string>`
      select table_name from information_schema.columns where column_name = 'ciphertext' order by table_name`
    const listed = yield* withRing(listKeyUses(ignore))
    expect([...new Set(listed.map(({ table }) => table))].toSorted()).toEqual(tables)
  })

  test("can be interrupted between two batches, and continues when it runs again", function* () {
    yield* store(401)
    const [half, sums] = [yield* Deferred.make<void>(), [] as Array<number>]
    const first = yield* Effect.forkChild(
      withRing(
        resealCiphertexts((count) =>
          Effect.suspend(() => {
            sums.push(count)
            return sums.length < 2 ? Effect.void : Effect.andThen(Deferred.succeed(half, undefined), Effect.never)
          }),
        ),
      ),
    )
    yield* Deferred.await(half)
    yield* Fiber.interrupt(first)
    expect(sums).toEqual([200, 200])
    expect(yield* uses).toEqual([
      ["signing_secrets", "k2", 400],
      ["signing_secrets", "k1", 1],
    ])
    for (const [n, { ciphertext }] of (yield* stored).entries()) {
      expect(Redacted.value(ring.decrypt(ciphertext, ORGANIZATION))).toBe(textOf(n))
    }
    expect(yield* withRing(resealCiphertexts(ignore))).toEqual({ resealed: 1, already: 400, unopened: 0 })
    expect(yield* withRing(resealCiphertexts(ignore))).toEqual({ resealed: 0, already: 401, unopened: 0 })
    for (const [n, { ciphertext }] of (yield* stored).entries()) {
      expect(Redacted.value(after.decrypt(ciphertext, ORGANIZATION))).toBe(textOf(n))
    }
  })

  test("runs several times concurrently while secrets expire and are deleted", function* () {
    yield* store(300)
    const runs = Array.from({ length: 3 }, () => withRing(resealCiphertexts(ignore)))
    const deleting = Effect.forEach(
      Array.from({ length: 20 }, (_, i) => `sec_${String(15 * i).padStart(32, "0")}`),
      (id) => sql`delete from signing_secrets where id = ${id}`,
    )
    const ending = Effect.replicateEffect(sql`update signing_secrets set expires_at = clock_timestamp()`, 5)
    const [results] = yield* Effect.all([Effect.all(runs, { concurrency: "unbounded" }), deleting, ending], {
      concurrency: "unbounded",
    })
    const resealed = results.reduce((sum, result) => sum + result.resealed, 0)
    expect(resealed).toBeGreaterThanOrEqual(280)
    expect(resealed).toBeLessThanOrEqual(300)
    expect(yield* uses).toEqual([
      ["signing_secrets", "k2", 280],
      ["signing_secrets", "k1", 0],
    ])
  })

  test("keeps a secret that another process stores while its row is awaited", function* () {
    yield* store(1)
    const given = before.encrypt(Redacted.make("whsec_new"), ORGANIZATION)
    const resealing = yield* whileOpen(sql`update signing_secrets set ciphertext = ${given}`, () =>
      Effect.forkChild(withRing(resealCiphertexts(ignore))).pipe(Effect.tap(untilBlocked())),
    )
    expect(yield* Fiber.join(resealing)).toEqual({ resealed: 1, already: 0, unopened: 0 })
    const [kept] = yield* stored
    expect(Redacted.value(after.decrypt(kept!.ciphertext, ORGANIZATION))).toBe("whsec_new")
  })
})
