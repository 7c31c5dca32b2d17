import { describe, expect } from "@effect/vitest"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { IdempotencyRepository } from "@outreach/domain/idempotency/executeOnce"
import { OldRows } from "@outreach/postgres/OldRows"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"

const { test } = testsOnDatabase()

const MANY = 1024 * 1024

const seedOrganization = Effect.map(seedCampaign({ recipients: 0 }), ({ organization }) => organization.id)

const request = (organizationId: OrganizationId, key: string, fingerprint = "the same") => ({
  organizationId,
  key,
  fingerprint: Buffer.from(fingerprint),
})
const response = (body: string | null) => ({ status: 200, headers: { ETag: '"é"', "X-Request-Id": "req_1" }, body })

/** The keys of the stored responses, oldest first, and their total size. */
const stored = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const rows = yield* sql<{ key: string; bytes: number }>`
    select key, octet_length(coalesce(body, '')) as bytes from stored_responses
    where organization_id = ${organizationId} order by bytes_before`
  return { keys: rows.map(({ key }) => key), bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }
})

describe("a stored response", () => {
  test("is returned unchanged with a body of any size, and large bodies are compressed", function* () {
    const responses = yield* IdempotencyRepository
    const organizationId = yield* seedOrganization
    const row = { npi: "1234567893", name: "Zoë 😀", at: null }
    const page = (length: number) => JSON.stringify(Array.from({ length }, () => row))
    const bodies = [null, "", "{}", '{"at":"é"}', page(500)]
    const sizes: Array<number> = []
    for (const [n, body] of bodies.entries()) {
      const before = (yield* stored(organizationId)).bytes
      yield* responses.store(request(organizationId, `key ${n}`), response(body), 8 * MANY)
      expect(yield* responses.find(request(organizationId, `key ${n}`))).toEqual({
        isSame: true,
        response: response(body),
      })
      sizes.push((yield* stored(organizationId)).bytes - before)
    }
    expect(sizes.slice(0, 4)).toEqual([0, 0, 2, 11])
    expect(sizes[4]).toBeLessThan(page(500).length / 20)
  })

  test("is deleted after a day", function* () {
    const responses = yield* IdempotencyRepository
    const organizationId = yield* seedOrganization
    const old = ["old", "replaced"]
    for (const key of [...old, "young"]) {
      yield* responses.store(request(organizationId, key), response("{}"), MANY)
    }
    yield* sql`
      update stored_responses set created_at = clock_timestamp() - case key when 'young' then interval '23:59' else '24:00:01' end
      where organization_id = ${organizationId}`
    for (const key of old) expect(yield* responses.find(request(organizationId, key))).toBeUndefined()
    yield* responses.store(request(organizationId, "replaced"), response("[]"), MANY)
    yield* (yield* OldRows).deleteResponses
    expect((yield* stored(organizationId)).keys).toEqual(["young", "replaced"])
  })
})

describe("the stored responses of an organization", () => {
  test("stay within their limit by deleting the organization's oldest", function* () {
    const responses = yield* IdempotencyRepository
    const [organizationId, other] = [yield* seedOrganization, yield* seedOrganization]
    const body = "x".repeat(1000)
    yield* responses.store(request(other, "theirs"), response(body), MANY)
    // Each response takes 1,000 bytes and about a third more, so six fit.
    for (let n = 0; n < 20; n++) {
      yield* responses.store(request(organizationId, `key ${10 + n}`), response(body), 8192)
      const { keys, bytes } = yield* stored(organizationId)
      expect(keys.at(-1)).toBe(`key ${10 + n}`)
      expect(keys).toHaveLength(Math.min(n + 1, 6))
      expect(bytes).toBeLessThan(8192)
    }
    expect((yield* stored(organizationId)).keys[0]).toBe("key 24")
    expect(yield* responses.find(request(organizationId, "key 23"))).toBeUndefined()
    expect((yield* stored(other)).keys).toEqual(["theirs"])
  })

  test("stay within it under concurrency", function* () {
    const responses = yield* IdempotencyRepository
    const organizationId = yield* seedOrganization
    yield* Effect.forEach(
      Array.from({ length: 60 }, (_, n) => n),
      (n) => responses.store(request(organizationId, `key ${n}`), response("x".repeat(1000)), 8192),
      { concurrency: "unbounded" },
    )
    // Each request deletes responses that were committed when it started, and the next request deletes the rest.
    yield* responses.store(request(organizationId, "last"), response("x".repeat(1000)), 8192)
    const { keys } = yield* stored(organizationId)
    expect([keys.length, keys.at(-1)]).toEqual([6, "last"])
  })

  test("are kept if a single one exceeds the limit, which isn't stored", function* () {
    const responses = yield* IdempotencyRepository
    const organizationId = yield* seedOrganization
    yield* responses.store(request(organizationId, "small"), response("{}"), 2000)
    const long = Array.from({ length: 5000 }, (_, n) => (n * 2_654_435_761) % 4_294_967_296).join()
    yield* responses.store(request(organizationId, "large"), response(long), 2000)
    expect((yield* stored(organizationId)).keys).toEqual(["small"])
  })
})
