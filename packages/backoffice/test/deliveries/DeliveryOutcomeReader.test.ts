import { describe, expect } from "@effect/vitest"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { latencyHistogram } from "@outreach/domain/deliveries/latencyBuckets"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { column, sql } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import fc from "fast-check"
import { DeliveryOutcomeReader } from "../../src/deliveries/DeliveryOutcomeReader.ts"

const { test } = testsOnDatabase()

const ALWAYS = { from: Timestamp.make("2020-01-01T00:00:00Z"), to: Timestamp.make("2100-01-01T00:00:00Z") }

const KINDS = [
  { state: "delivered", status: 200, outcome: "success", counts: "delivered" },
  { state: "delivered", status: 204, outcome: "success", counts: "delivered" },
  { state: "retry", status: 503, outcome: "server_error", counts: "serverErrors" },
  { state: "retry", status: 302, outcome: "redirect", counts: "otherStatuses" },
  { state: "retry", status: null, outcome: "deadline", counts: "noResponses" },
  { state: "exhausted", status: null, outcome: "refused", counts: "noResponses" },
  { state: "exhausted", status: 500, outcome: "server_error", counts: "serverErrors" },
  { state: "rejected", status: 404, outcome: "client_error", counts: "clientErrors" },
] as const
const call = fc.record({ kind: fc.constantFrom(...KINDS), latencyMs: fc.integer({ min: 0, max: 20_000 }) })
type Call = typeof call extends fc.Arbitrary<infer A> ? A : never

const resultOf = (delivery: Delivery, { kind: { state, status, outcome }, latencyMs }: Call) => {
  const startedAt = Timestamp.make("2026-11-21T00:00:00.000001Z")
  const attempt = { number: delivery.attempt, startedAt, latencyMs, status, outcome, response: "text" }
  const settlement = state === "retry" ? { settlement: state, delay: 0 } : { settlement: state }
  return { delivery, version: delivery.version, attempt, ...settlement }
}

/** Publishes events, and settles them and due retries with the outcomes from `draw`; returns the outcome of each call. */
const deliver = Effect.fnUntraced(function* (events: number, draw: (count: number) => ReadonlyArray<Call>) {
  const seeded = yield* seedCampaign({ recipients: 1 })
  yield* publishSent(seeded.campaign, events)
  const leases = yield* DeliveryLeases
  const { take, token } = yield* workerOn()
  const all: Array<Call> = []
  for (let round = 0; round < 3; round++) {
    const taken = (yield* take()).filter(({ endpointId }) => endpointId === seeded.endpoint.id)
    const drawn = draw(taken.length)
    all.push(...drawn)
    const outcomes = taken.map((delivery, i) => resultOf(delivery, drawn[i]!))
    yield* leases.write(token, [{ endpointId: seeded.endpoint.id, outcomes }])
  }
  return { ...seeded, all }
})

const expected = (all: ReadonlyArray<Call>) => {
  const count = (counts: string) => all.filter(({ kind }) => kind.counts === counts).length
  return {
    delivered: count("delivered"),
    clientErrors: count("clientErrors"),
    serverErrors: count("serverErrors"),
    otherStatuses: count("otherStatuses"),
    noResponses: count("noResponses"),
    deadLetters: all.filter(({ kind }) => kind.state === "exhausted" || kind.state === "rejected").length,
  }
}

describe("Outcomes of deliveries", () => {
  test("match the outcome of each call, for any outcome", function* () {
    const outcomes = yield* DeliveryOutcomeReader
    const { endpoint, organization, all } = yield* deliver(60, (count) => fc.sample(call, count))
    const filter = { ...ALWAYS, endpointId: endpoint.id }
    const summary = yield* outcomes.summary(filter)
    expect(summary).toMatchObject(expected(all))
    expect(yield* outcomes.summary({ ...ALWAYS, organizationId: organization.id })).toEqual(summary)
    expect(yield* outcomes.summaries({ ...ALWAYS, organizationId: organization.id })).toEqual(
      new Map([[endpoint.id, summary]]),
    )
    const latencies = yield* column<number>`
      select sum(count)::int from delivery_outcomes cross join unnest(latencies) with ordinality as each (count, n)
      where endpoint_id = ${endpoint.id} group by n order by n`
    expect(latencies).toEqual(latencyHistogram(all.map(({ latencyMs }) => latencyMs)))
    const [row] = yield* sql<{ delivered: number; dead: number }>`
      select (select count(*)::int from dead_letters where endpoint_id = ${endpoint.id}) as dead, (
        select sum(coalesce(json_array_length(deliveries), 1))::int from delivered where endpoint_id = ${endpoint.id}) as delivered`
    expect(row).toEqual({ delivered: summary.delivered, dead: summary.deadLetters })
  })

  test("are not counted for an endpoint that the worker has lost", function* () {
    const { endpoint, campaign } = yield* seedCampaign({ recipients: 1 })
    yield* publishSent(campaign, 4)
    const leases = yield* DeliveryLeases
    const taken = (yield* (yield* workerOn()).take()).filter(({ endpointId }) => endpointId === endpoint.id)
    const outcomes = KINDS.slice(1, 5).map((kind, i) => resultOf(taken[i]!, { kind, latencyMs: 1 }))
    const stranger = "00000000-0000-4000-8000-00000000000f"
    yield* leases.write(stranger, [{ endpointId: endpoint.id, outcomes }])
    expect(yield* (yield* DeliveryOutcomeReader).summary({ ...ALWAYS, endpointId: endpoint.id })).toMatchObject(
      expected([]),
    )
  })

  test("have intervals of five minutes, and of an hour after two days", function* () {
    const outcomes = { ...(yield* DeliveryOutcomeReader), ...(yield* DeliveryOutcomes) }
    const { endpoint, organization } = yield* seedCampaign({ recipients: 0 })
    yield* sql`
      insert into delivery_outcomes (organization_id, endpoint_id, at, delivered, server_errors, dead_letters, latencies)
      select ${organization.id}, ${endpoint.id}, date_trunc('hour', now(), 'UTC') - interval '3 days' + n * interval '5 minutes', 7, 2, n,
        latency_histogram('{1,1,1,1,1,1,1,600,9000}')
      from generate_series(0, 1) n`
    const filter = { ...ALWAYS, endpointId: endpoint.id }
    const before = yield* outcomes.summary(filter)
    expect(before).toMatchObject({ delivered: 14, serverErrors: 4, deadLetters: 1 })
    expect((yield* outcomes.histogram(filter, 300)).map(({ delivered }) => delivered)).toEqual([7, 7])
    while ((yield* outcomes.merge) > 0) {}
    expect((yield* outcomes.histogram(filter, 300)).map(({ delivered }) => delivered)).toEqual([14])
    expect(yield* outcomes.summary(filter)).toEqual(before)
    yield* outcomes.forget(4)
    expect(yield* outcomes.summary(filter)).toEqual(before)
    yield* outcomes.forget(2)
    expect(yield* outcomes.summary(filter)).toMatchObject({ delivered: 0, p50Ms: null, p99Ms: null })
  })

  test("count a dead letter at the time it was written, by any writer", function* () {
    const { endpoint } = yield* seedDeadLetters(5, { daysAgo: 1 })
    const [row] = yield* (yield* DeliveryOutcomeReader).histogram({ ...ALWAYS, endpointId: endpoint.id }, 86_400)
    expect(row).toMatchObject({ deadLetters: 5, delivered: 0 })
  })
})
