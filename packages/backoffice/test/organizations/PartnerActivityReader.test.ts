import { describe, expect } from "@effect/vitest"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { EventFeed, feedFrom } from "@outreach/postgres/events/EventFeed"
import { PartnerActivity } from "@outreach/postgres/organizations/PartnerActivity"
import { effectTest } from "@outreach/testing/effectTest"
import { publishSent } from "@outreach/testing/publishTogether"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { backoffice } from "../../src/backoffice.ts"
import { PartnerActivityReader } from "../../src/organizations/PartnerActivityReader.ts"

const test = effectTest(runOnDatabase({ layer: backoffice }))
const BEGINNING = "2020-01-01T00:00:00.000000Z" as Timestamp

const seedKey = Effect.fnUntraced(function* (options: { readonly recipients: number }) {
  const seed = yield* seedCampaign(options)
  const { key, text } = yield* issueKey({
    organizationId: seed.organization.id,
    name: "reporting",
    scopes: ["events:read"],
    expiresAt: null,
  })
  return { ...seed, organizationId: seed.organization.id, key, text }
})

describe("counts of requests", () => {
  test("add up by caller, hour and code, and keep the fullest rate window", function* () {
    const { organizationId, key, endpoint } = yield* seedKey({ recipients: 0 })
    const activity = { ...(yield* PartnerActivity), ...(yield* PartnerActivityReader) }
    const served = { organizationId, callerId: key.id, code: "", requests: 3, peak: 40 }
    const refused = { organizationId, callerId: key.id, code: "RATE_LIMITED", requests: 1, peak: 100 }
    const webhook = { organizationId, callerId: endpoint.id, code: "INVALID_SIGNATURE", requests: 2, peak: 0 }
    yield* activity.countRequests([served, webhook])
    yield* activity.countRequests([{ ...served, requests: 2, peak: 7 }, refused])
    const rows = yield* activity.hourlyRequests(organizationId, 24)
    const byCode = (code: string) => rows.filter((row) => row.code === code)
    // An hour may end between the two.
    expect(byCode("").reduce((sum, { requests }) => sum + requests, 0)).toBe(5)
    expect(Math.max(...byCode("").map(({ peak }) => peak))).toBe(40)
    expect(byCode("RATE_LIMITED")).toEqual([{ ...refused, hour: expect.stringMatching(/:00:00\.000000Z$/) }])
    expect(yield* activity.hourlyRequests(organizationId, 24, endpoint.id)).toEqual([
      { ...webhook, hour: expect.any(String) },
    ])
  })

  test("are written in one order, so that processes that count the same callers never wait for each other in a circle", function* () {
    const { organizationId, key } = yield* seedKey({ recipients: 0 })
    const activity = { ...(yield* PartnerActivity), ...(yield* PartnerActivityReader) }
    const codes = Array.from({ length: 40 }, (_, i) => `CODE_${i}`)
    const counts = codes.map((code) => ({ organizationId, callerId: key.id, code, requests: 1, peak: 1 }))
    yield* Effect.all(
      Array.from({ length: 20 }, (_, i) => activity.countRequests(i % 2 === 0 ? counts : counts.toReversed())),
      { concurrency: "unbounded" },
    )
    const rows = yield* activity.hourlyRequests(organizationId, 24)
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(20 * codes.length)
  })

  test("are forgotten after 30 days", function* () {
    const { organizationId, key } = yield* seedKey({ recipients: 0 })
    const activity = { ...(yield* PartnerActivity), ...(yield* PartnerActivityReader) }
    yield* activity.countRequests([{ organizationId, callerId: key.id, code: "", requests: 1, peak: 1 }])
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      insert into request_counts
      select organization_id, caller_id, hour - interval '31 days', code, requests, peak from request_counts
      where organization_id = ${organizationId}`
    yield* activity.forget
    expect(yield* activity.hourlyRequests(organizationId, 24 * 365)).toHaveLength(1)
  })
})

test("the use of the present rate window is that of the organization's own keys", function* () {
  const { organizationId, key, text } = yield* seedKey({ recipients: 0 })
  const other = yield* seedKey({ recipients: 0 })
  const keys = yield* ApiKeyRepository
  const { windowUse } = yield* PartnerActivityReader
  const { use, counted } = yield* Effect.gen(function* () {
    yield* keys.authenticateKey(Redacted.value(other.text))
    const use = yield* keys.authenticateKey(Redacted.value(text))
    return { use, counted: yield* windowUse(organizationId) }
    // Once more if the minute of the window has just ended.
  }).pipe(Effect.repeat({ until: ({ counted }) => counted.length > 0 }))
  expect(counted).toEqual([{ keyId: key.id, count: use!.count }])
})

describe("a poller", () => {
  test("of the feed is as far behind as there are events of its types after its position", function* () {
    const { organizationId, key, campaign } = yield* seedKey({ recipients: 0 })
    yield* publishSent(campaign, 5)
    const { page } = yield* EventFeed
    const { rows } = yield* page(organizationId, ["outreach.email_sent"], feedFrom(BEGINNING), 9)
    const { emittedAt: at, id } = rows[1]!
    const { notePositions } = yield* PartnerActivity
    const { pollers } = yield* PartnerActivityReader
    const position = { organizationId, keyId: key.id, list: "events", at, id, hasMore: true } as const
    yield* notePositions([{ ...position, types: null }])
    expect(yield* pollers(organizationId)).toEqual([
      { ...position, types: null, readAt: expect.any(String), lagRows: 3, lagSeconds: expect.any(Number) },
    ])
    yield* notePositions([{ ...position, types: ["outreach.email_bounced", "outreach.email_opened"] }])
    expect(yield* pollers(organizationId)).toMatchObject([
      { types: ["outreach.email_bounced", "outreach.email_opened"], lagRows: 0, lagSeconds: 0 },
    ])
    const last = rows.at(-1)!
    yield* notePositions([{ ...position, types: null, at: last.emittedAt, id: last.id, hasMore: false }])
    expect(yield* pollers(organizationId)).toMatchObject([{ hasMore: false, lagRows: 0, lagSeconds: 0 }])
  })

  test("of recipients is as far behind as there are recipients that were updated since", function* () {
    const { organizationId, key } = yield* seedKey({ recipients: 4 })
    const { notePositions } = yield* PartnerActivity
    const { pollers } = yield* PartnerActivityReader
    const position = { organizationId, keyId: key.id, list: "tokens", types: null, hasMore: false } as const
    yield* notePositions([{ ...position, at: BEGINNING, id: "" }])
    expect(yield* pollers(organizationId)).toMatchObject([{ list: "tokens", lagRows: 4 }])
  })
})

test("a secret tells when webhooks were last verified with it, and to which endpoints they came", function* () {
  const { organizationId, endpoint } = yield* seedKey({ recipients: 0 })
  const other = yield* seedKey({ recipients: 0 })
  yield* rotateSecret(organizationId, 3600)
  const secrets = yield* SigningSecretRepository
  const [next, old] = yield* secrets.list({ organizationId })
  const used = { organizationId, secretId: old!.id, endpointId: endpoint.id }
  const { noteVerifications } = yield* PartnerActivity
  yield* noteVerifications([used])
  yield* noteVerifications([used])
  const [verification, ...rest] = yield* secrets.verifications(organizationId)
  expect([verification, rest]).toEqual([{ ...used, verifiedAt: expect.any(String) }, []])
  expect(yield* secrets.list({ organizationId })).toEqual([
    { ...next, lastVerifiedAt: null },
    { ...old, lastVerifiedAt: verification!.verifiedAt },
  ])
  expect(yield* secrets.verifications(other.organizationId)).toEqual([])
})
