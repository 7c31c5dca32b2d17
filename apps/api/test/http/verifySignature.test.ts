import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { EndpointId } from "@outreach/domain/Identifier"
import { sign } from "@outreach/signature/node"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Exit, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { expect } from "vitest"
import { createSignatureVerifier } from "../../src/http/verifySignature.ts"

const run = runOnDatabase()
const test = effectTest((effect: Parameters<typeof run>[0]) => run(Effect.provide(effect, TestClock.layer())))
const BODY = new TextEncoder().encode("{}")

/** An endpoint, a process that starts at `now` by a clock that only `TestClock` moves, and how often it has read secrets. */
const setUp = Effect.gen(function* () {
  const seed = yield* seedCampaign({ recipients: 0 })
  const now = Date.now()
  yield* TestClock.setTime(now)
  const secrets = yield* SigningSecretRepository
  const read = { times: 0 }
  const { findOwner, verifySignature } = yield* createSignatureVerifier.pipe(
    Effect.provideService(SigningSecretRepository, {
      ...secrets,
      ofEndpoint: (id) => {
        read.times++
        return secrets.ofEndpoint(id)
      },
    }),
  )
  const accepts = (secret: Redacted.Redacted, timestamp: number) =>
    verifySignature(seed.endpoint.id, sign(BODY, [Redacted.value(secret)], { timestamp }), BODY).pipe(
      Effect.exit,
      Effect.map(Exit.isSuccess),
    )
  return { ...seed, now, read, accepts, findOwner, signedNow: Math.floor(now / 1000) }
})

test("knows an endpoint without reading it again, and reads an unknown one each time, which may have come meanwhile", function* () {
  const { endpoint, read, findOwner } = yield* setUp
  const isKnown = (id: EndpointId) => Effect.map(Effect.exit(findOwner(id)), Exit.isSuccess)
  expect([yield* isKnown(endpoint.id), yield* isKnown(endpoint.id), read.times]).toEqual([true, true, 1])
  const unknown = "whe_0199" as EndpointId
  expect([yield* isKnown(unknown), yield* isKnown(unknown), read.times]).toEqual([false, false, 3])
})

test("takes a signature that is exactly five minutes away, and none that is a millisecond more", function* () {
  const { secret, accepts, signedNow } = yield* setUp
  const away = [-300_001, -300_000, 0, 300_000, 300_001]
  const accepted = yield* Effect.forEach(away, (millis) =>
    Effect.andThen(TestClock.setTime(signedNow * 1000 + millis), accepts(secret, signedNow)),
  )
  expect(accepted).toEqual([false, true, true, true, false])
})

test("takes a new secret from its commit on, and an old one up to the millisecond in which its grace ends", function* () {
  const { organization, secret: first, accepts, signedNow } = yield* setUp
  expect(yield* accepts(first, signedNow)).toBe(true)
  const second = yield* rotateSecret(organization.id, 60)
  expect([yield* accepts(second, signedNow), yield* accepts(first, signedNow)]).toEqual([true, true])

  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ ends: number }>`
    select extract(epoch from max(expires_at))::double precision * 1000 as ends from signing_secrets
    where organization_id = ${organization.id}`
  yield* TestClock.setTime(Math.ceil(row!.ends) - 1)
  expect(yield* accepts(first, signedNow)).toBe(true)
  yield* TestClock.setTime(Math.ceil(row!.ends))
  expect([yield* accepts(first, signedNow), yield* accepts(second, signedNow)]).toEqual([false, true])
})

test("takes a secret that was withdrawn for ten seconds after it was read, and no longer", function* () {
  const { organization, secret, now, accepts, signedNow } = yield* setUp
  expect(yield* accepts(secret, signedNow)).toBe(true)
  yield* rotateSecret(organization.id, 0)
  yield* TestClock.setTime(now + 9_999)
  expect(yield* accepts(secret, signedNow)).toBe(true)
  yield* TestClock.setTime(now + 10_000)
  expect(yield* accepts(secret, signedNow)).toBe(false)
})

test("reads secrets once for all who wait for them, however many signatures are forged", function* () {
  const { secret, read, accepts, signedNow } = yield* setUp
  const many = (with_: Redacted.Redacted) =>
    Effect.forEach(Array.from({ length: 320 }), () => accepts(with_, signedNow), { concurrency: "unbounded" })
  expect(new Set(yield* many(Redacted.make("whsec_forged")))).toEqual(new Set([false]))
  // 32 wait for one reading.
  expect(read.times).toBeLessThanOrEqual(11)
  read.times = 0
  expect(new Set(yield* many(secret))).toEqual(new Set([true]))
  expect(read.times).toBe(0)
})
