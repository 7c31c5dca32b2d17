import type { IncomingMessage } from "node:http"
import { rotateSecret, SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecrets"
import type { EndpointId } from "@outreach/domain/Identifier"
import { InboxRepository, type SignatureRejections } from "@outreach/domain/inbox/InboxRepository"
import { sign } from "@outreach/signature/node"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { effectTest } from "@outreach/testing/runWith"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { value } from "@outreach/testing/sql"
import { Effect, Exit, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "vitest"
import { ApiConfig } from "../../src/ApiConfig.ts"
import { createSignatureVerifier } from "../../src/http/verifySignature.ts"

const run = runOnDatabase()
const test = effectTest((effect: Parameters<typeof run>[0]) => run(Effect.provide(effect, TestClock.layer())))
const UNAUTHENTICATED_LIMIT = 3
const BODY = new TextEncoder().encode("{}")

/** An endpoint, a process with a `TestClock` at `now`, and the number of its reads of secrets. */
const setUp = Effect.gen(function* () {
  const seed = yield* seedCampaign({ recipients: 0 })
  const now = Date.now()
  yield* TestClock.setTime(now)
  const secrets = yield* SigningSecretRepository
  const read = { times: 0 }
  const stored = yield* Queue.unbounded<ReadonlyArray<SignatureRejections>>()
  const database = { fails: false }
  const { checkEndpoint, verifySignature } = yield* createSignatureVerifier.pipe(
    Effect.provideService(ApiConfig, {
      trustProxy: () => false,
      unauthenticatedLimit: UNAUTHENTICATED_LIMIT,
    } as unknown as ApiConfig["Service"]),
    Effect.provideService(InboxRepository, {
      ...(yield* InboxRepository),
      countRejections: (rejections) =>
        Effect.andThen(Queue.offer(stored, rejections), database.fails ? Effect.die("unavailable") : Effect.void),
    }),
    Effect.provideService(SigningSecretRepository, {
      ...secrets,
      ofEndpoint: (id) => {
        read.times++
        return id === seed.endpoint.id ? secrets.ofEndpoint(id) : Effect.undefined
      },
    }),
  )
  const accepts = (secret: Redacted.Redacted, timestamp: number) =>
    verifySignature(seed.endpoint.id, sign(BODY, [Redacted.value(secret)], { timestamp }), BODY).pipe(
      Effect.exit,
      Effect.map(Exit.isSuccess),
    )
  /** Returns the error code of a request to an endpoint; undefined if the endpoint is known. */
  const errorFor = (id: string, remoteAddress = "192.0.2.1") =>
    checkEndpoint(id as EndpointId, { headers: {}, socket: { remoteAddress } } as IncomingMessage).pipe(
      Effect.match({ onSuccess: () => undefined, onFailure: ({ code }) => code }),
    )
  return {
    ...{ ...seed, now, read, stored, database, accepts, errorFor },
    ...{ verify: verifySignature, signedNow: Math.floor(now / 1000) },
  }
})

test("knows an endpoint without reading it again, and reads an unknown one each time, because it may be new", function* () {
  const { endpoint, read, errorFor } = yield* setUp
  expect([yield* errorFor(endpoint.id), yield* errorFor(endpoint.id), read.times]).toEqual([undefined, undefined, 1])
  const unknown = () => errorFor("whe_0199")
  expect([yield* unknown(), yield* unknown(), read.times]).toEqual(["INVALID_SIGNATURE", "INVALID_SIGNATURE", 3])
})

test("still knows an endpoint after strangers have named thousands of unknown ones", function* () {
  const { endpoint, read, errorFor } = yield* setUp
  yield* errorFor(endpoint.id)
  const stranger = (i: number) => errorFor(`whe_${i}`, `10.0.${i >> 8}.${i & 255}`)
  yield* Effect.forEach(Array.from({ length: 10_001 }).keys(), stranger, { concurrency: 64, discard: true })
  read.times = 0
  expect([yield* errorFor(endpoint.id), read.times]).toEqual([undefined, 0])
})

test("makes no query for an address with too many unknown endpoints, and still accepts known ones", function* () {
  const { endpoint, read, errorFor } = yield* setUp
  yield* errorFor(endpoint.id)
  for (let i = 0; i < UNAUTHENTICATED_LIMIT; i++) expect(yield* errorFor("whe_0199")).toBe("INVALID_SIGNATURE")
  read.times = 0
  // Not a 4xx: the endpoint may be new, and senders retry only a 5xx.
  expect([yield* errorFor("whe_0199"), yield* errorFor(endpoint.id), read.times]).toEqual([
    "SERVICE_UNAVAILABLE",
    undefined,
    0,
  ])
  expect(yield* errorFor("whe_0199", "192.0.2.2")).toBe("INVALID_SIGNATURE")
})

test("takes a signature that is exactly five minutes away, and none that is a millisecond more", function* () {
  const { secret, accepts, signedNow } = yield* setUp
  const away = [-300_001, -300_000, 0, 300_000, 300_001]
  const accepted = yield* Effect.forEach(away, (millis) =>
    Effect.andThen(TestClock.setTime(signedNow * 1000 + millis), () => accepts(secret, signedNow)),
  )
  expect(accepted).toEqual([false, true, true, true, false])
})

test("accepts a new secret from its commit, and an old one to the last millisecond of its grace period", function* () {
  const { organization, secret: first, accepts, signedNow } = yield* setUp
  expect(yield* accepts(first, signedNow)).toBe(true)
  const second = yield* rotateSecret(organization.id, 60)
  expect([yield* accepts(second, signedNow), yield* accepts(first, signedNow)]).toEqual([true, true])

  const ends = yield* value<number>`
    select extract(epoch from max(expires_at))::double precision * 1000 from signing_secrets
    where organization_id = ${organization.id}`
  yield* TestClock.setTime(Math.ceil(ends) - 1)
  expect(yield* accepts(first, signedNow)).toBe(true)
  yield* TestClock.setTime(Math.ceil(ends))
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
  // 32 wait for one read.
  expect(read.times).toBeLessThanOrEqual(11)
  read.times = 0
  expect(new Set(yield* many(secret))).toEqual(new Set([true]))
  expect(read.times).toBe(0)
})

test("notes with which secret the partner signs", function* () {
  const { organization, secret, accepts, signedNow } = yield* setUp
  yield* rotateSecret(organization.id, 3600)
  expect(yield* accepts(secret, signedNow)).toBe(true)
  const { list } = yield* SigningSecretRepository
  expect(yield* list({ organizationId: organization.id })).toMatchObject([
    { lastVerifiedAt: null },
    { lastVerifiedAt: expect.any(String) },
  ])
})

test("counts rejected webhooks of an endpoint by reason in the background, and again if they couldn't be stored", function* () {
  const { endpoint, secret, verify, signedNow, stored, database } = yield* setUp
  const send = (header: string | undefined, id: EndpointId = endpoint.id) => Effect.exit(verify(id, header, BODY))
  const signed = (secret: string, timestamp = signedNow) => sign(BODY, [secret], { timestamp })
  yield* send(undefined)
  yield* send("t=1")
  yield* send(signed("whsec_forged"))
  yield* send(signed("whsec_forged"))
  yield* send(signed(Redacted.value(secret), signedNow - 301))
  yield* send(signed(Redacted.value(secret)))
  yield* send(signed("whsec_forged"), "whe_0199" as EndpointId)
  expect(Queue.sizeUnsafe(stored)).toBe(0)
  database.fails = true
  yield* TestClock.adjust("10 seconds")
  expect(yield* Queue.take(stored)).toHaveLength(4)
  database.fails = false
  yield* send(undefined)
  yield* TestClock.adjust("10 seconds")
  const counts = [
    { endpointId: endpoint.id, reason: "missing_header", count: 2 },
    { endpointId: endpoint.id, reason: "malformed_header", count: 1 },
    { endpointId: endpoint.id, reason: "no_match", count: 2 },
    { endpointId: endpoint.id, reason: "timestamp_out_of_tolerance", count: 1 },
  ]
  expect(yield* Queue.take(stored)).toEqual(counts)
})
