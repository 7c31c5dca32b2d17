import { describe, expect } from "@effect/vitest"
import { createIdentifier } from "@outreach/domain/Identifier"
import { type InboundMessage, InboxRepository, type SignatureFault } from "@outreach/domain/inbox/InboxRepository"
import { SECRET_ID } from "@outreach/testing/receiveEvent"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql, value } from "@outreach/testing/sql"
import { Effect } from "effect"

const { test } = testsOnDatabase()

const seedMessage = Effect.gen(function* () {
  const { organization, endpoint } = yield* seedCampaign({ recipients: 0 })
  return (eventId: string, body = "{}"): InboundMessage => ({
    organizationId: organization.id,
    endpointId: endpoint.id,
    secretId: SECRET_ID,
    eventId,
    type: "clinician.account_created",
    npi: null,
    body,
    traceparent: null,
  })
})
const receive = (message: InboundMessage) => Effect.flatMap(InboxRepository, (inbox) => inbox.receive(message))
const bodies = (organizationId: string) =>
  sql<{ event_id: string; body: string }>`
      select event_id, body from inbox where organization_id = ${organizationId} order by event_id`

describe("InboxRepositoryPg.receive", () => {
  test("stores the same id for two organizations", function* () {
    const [one, other] = [yield* seedMessage, yield* seedMessage]
    expect([yield* receive(one("evt_1", "a")), yield* receive(other("evt_1", "b"))]).toEqual(["stored", "stored"])
  })

  test("returns a separate result for each concurrent message", function* () {
    const message = yield* seedMessage
    const all = (count: number, body: string) =>
      Effect.forEach(
        Array.from({ length: count }, (_, i) => message(`evt_${i % 20}`, body)),
        receive,
        { concurrency: "unbounded" },
      )
    // The database decides which of the three is the first.
    const alike = yield* all(60, "first")
    for (let i = 0; i < 20; i++) {
      expect([alike[i], alike[i + 20], alike[i + 40]].sort()).toEqual(["repeated", "repeated", "stored"])
    }
    expect(new Set(yield* all(20, "other"))).toEqual(new Set(["differs"]))
    const counted = yield* value<number>`
      select sum(differing)::int as differing from inbox where organization_id = ${message("").organizationId}`
    expect(counted).toBe(20)
    const rows = yield* bodies(message("").organizationId)
    expect(rows.map(({ body }) => body)).toEqual(Array(20).fill("first"))
  })
})

test("InboxRepositoryPg.countRejections adds up to a billion, skips unknown endpoints, and keeps no row after an endpoint", function* () {
  const { endpoint } = yield* seedCampaign({ recipients: 0 })
  const unknown = yield* createIdentifier("endpoint")
  const { countRejections } = yield* InboxRepository
  const rejected = (reason: SignatureFault, count: number, endpointId = endpoint.id) => ({ endpointId, reason, count })
  yield* countRejections([rejected("no_match", 2), rejected("missing_header", 999_999_999)])
  yield* Effect.all(
    [1, 2, 3].map(() =>
      countRejections([rejected("missing_header", 4), rejected("no_match", 1), rejected("no_match", 1, unknown)]),
    ),
    { concurrency: "unbounded" },
  )
  const rows = sql`
    select reason, count, last_at > first_at as "isRepeated" from signature_rejections
    where endpoint_id in (${endpoint.id}, ${unknown}) order by reason`
  expect(yield* rows).toEqual([
    { reason: "missing_header", count: 1_000_000_000, isRepeated: true },
    { reason: "no_match", count: 5, isRepeated: true },
  ])
  yield* sql`delete from endpoint_readers where endpoint_id = ${endpoint.id}`
  yield* sql`delete from reader_positions where endpoint_id = ${endpoint.id}`
  yield* sql`delete from webhook_endpoints where id = ${endpoint.id}`
  expect(yield* rows).toEqual([])
})
