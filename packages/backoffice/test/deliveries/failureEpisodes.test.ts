import { describe, expect } from "@effect/vitest"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import type { EndpointId, FailureGroupId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { fragment, sql, whileOpen } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { FailureGroupReader } from "../../src/deliveries/FailureGroupReader.ts"

const { test } = testsOnDatabase()

/** An endpoint with a number of claimed deliveries, and a worker that writes the outcomes. */
const seed = Effect.fnUntraced(function* (count: number) {
  const { campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
  yield* publishSent(campaign, count)
  const worker = yield* workerOn()
  const taken = (yield* worker.take()).filter(({ endpointId }) => endpointId === endpoint.id)
  const leases = yield* DeliveryLeases
  const resultOf = (delivery: Delivery, isSuccess: boolean, response: string | null) => {
    const startedAt = Timestamp.make("2026-11-01T00:00:00.000000Z")
    const result = isSuccess ? { status: 200, outcome: "success" } : { status: 500, outcome: "server_error" }
    const attempt = { number: delivery.attempt, startedAt, latencyMs: 5, response, ...result }
    const settlement = isSuccess
      ? ({ settlement: "delivered" } as const)
      : ({ settlement: "retry", delay: 3600 } as const)
    return { delivery, version: delivery.version, attempt, ...settlement }
  }
  let next = 0
  return {
    endpoint,
    /** Writes failed and delivered calls in one statement. */
    call: Effect.fnUntraced(function* (
      failures: number,
      successes: number,
      response: string | null = "upstream timeout",
    ) {
      const calls = taken.slice(next, next + failures + successes)
      next += calls.length
      expect(calls).toHaveLength(failures + successes)
      const outcomes = calls.map((each, n) => resultOf(each, n >= failures, response))
      yield* leases.write(worker.token, [{ endpointId: endpoint.id, outcomes }])
    }),
  }
})

/** Advances the time of an endpoint by moving its outcomes and failures some minutes back. */
const wait = Effect.fnUntraced(function* (endpointId: EndpointId, minutes: number) {
  const by = fragment`make_interval(mins => ${minutes}::int)`
  // In two steps to avoid key conflicts.
  yield* sql`update delivery_outcomes set at = at - interval '100 years' - ${by} where endpoint_id = ${endpointId}`
  yield* sql`update delivery_outcomes set at = at + interval '100 years' where endpoint_id = ${endpointId}`
  yield* sql`
    update failure_groups set opened_at = opened_at - ${by}, last_at = last_at - ${by}, closed_at = closed_at - ${by}
    where endpoint_id = ${endpointId}`
})

const list = (endpointId: EndpointId) => FailureGroupReader.use(({ list }) => list({ endpointId }, 10))
const ended = (endpointId: EndpointId) => FailureGroupReader.use(({ list }) => list({ endpointId, state: "ended" }, 10))
const close = Effect.flatMap(DeliveryOutcomes, ({ closeGroups }) => closeGroups)

describe("An episode of failures", () => {
  test("starts with the first failed attempt, and includes its share of the calls since then", function* () {
    const { endpoint, call } = yield* seed(20)
    yield* call(0, 5)
    expect(yield* list(endpoint.id)).toEqual([])
    yield* call(4, 1)
    yield* call(4, 1)
    const [group] = yield* list(endpoint.id)
    expect(group).toMatchObject({
      ...{ status: 500, firstLine: "upstream timeout", failures: 8, calls: 10, closedAt: null, open: 0, stored: 0 },
    })
    expect(group!.openedAt <= group!.lastAt).toBe(true)
    yield* call(1, 0, "database is down")
    expect((yield* list(endpoint.id)).map(({ firstLine, failures, calls }) => [firstLine, failures, calls])).toEqual([
      ["database is down", 1, 1],
      ["upstream timeout", 8, 11],
    ])
  })

  test("counts each failure once, and restores its line after an erasure removed it", function* () {
    const { endpoint, call } = yield* seed(6)
    yield* call(2, 0)
    yield* call(1, 0)
    yield* sql`update failure_groups set first_line = null where endpoint_id = ${endpoint.id}`
    yield* call(1, 0)
    yield* call(2, 0)
    const [group] = yield* list(endpoint.id)
    expect(group).toMatchObject({ firstLine: "upstream timeout", failures: 6, calls: 6 })
  })

  test("closes when calls succeed again, and the next failure starts a new one", function* () {
    const { endpoint, call } = yield* seed(12)
    yield* call(5, 0)
    yield* close
    yield* wait(endpoint.id, 10)
    yield* close
    expect(yield* list(endpoint.id)).toMatchObject([{ failures: 5, calls: 5, closedAt: null }])
    yield* call(0, 1)
    yield* close
    expect(yield* list(endpoint.id)).toEqual([])
    const [over] = yield* ended(endpoint.id)
    expect(over).toMatchObject({ failures: 5, calls: null })
    expect(over!.closedAt).not.toBeNull()
    yield* wait(endpoint.id, 10)
    yield* call(2, 1)
    const [again] = yield* list(endpoint.id)
    expect(again).toMatchObject({ id: over!.id, failures: 2, calls: 3, closedAt: null })
    expect(again!.openedAt > over!.closedAt!).toBe(true)
  })

  test("stays open while most calls fail, even with occasional successes, and closes after more of them", function* () {
    const { endpoint, call } = yield* seed(40)
    for (let n = 1; n <= 3; n++) {
      yield* call(8, 2)
      yield* wait(endpoint.id, 5)
      yield* call(0, 1)
      yield* close
      expect(yield* list(endpoint.id)).toMatchObject([{ failures: n * 8, closedAt: null }])
    }
    yield* call(0, 1)
    yield* close
    expect(yield* list(endpoint.id)).toEqual([])
  })

  test("also closes within the five minutes that count its failures, two minutes after the last one", function* () {
    const { endpoint, call } = yield* seed(4)
    yield* call(3, 0)
    yield* call(0, 1)
    yield* close
    expect(yield* list(endpoint.id)).toHaveLength(1)
    yield* sql`
      update failure_groups set opened_at = opened_at - interval '3 minutes', last_at = last_at - interval '3 minutes'
      where endpoint_id = ${endpoint.id}`
    yield* close
    expect(yield* list(endpoint.id)).toEqual([])
  })

  test("closes if its failures are in the future, because the clock was wrong", function* () {
    const { endpoint, call } = yield* seed(2)
    yield* call(1, 0)
    yield* sql`update failure_groups set last_at = last_at + interval '3 hours' where endpoint_id = ${endpoint.id}`
    yield* close
    expect(yield* list(endpoint.id)).toEqual([])
    yield* call(1, 0)
    expect(yield* list(endpoint.id)).toMatchObject([{ failures: 1, closedAt: null }])
  })

  test("isn't closed while a worker writes a new failure", function* () {
    const { endpoint, call } = yield* seed(4)
    yield* call(1, 0)
    yield* wait(endpoint.id, 10)
    yield* call(0, 1)
    yield* whileOpen(call(1, 1), () => close)
    expect(yield* list(endpoint.id)).toMatchObject([{ failures: 2, closedAt: null }])
  })
})

test("A muted group is only in the list of muted groups, even if it fails again, until it is unmuted", function* () {
  const repository = yield* DeliveryRepository
  const { endpoint, call } = yield* seed(4)
  yield* call(1, 0)
  const [group] = yield* list(endpoint.id)
  const { id } = group!
  yield* repository.mute(id, "their nightly maintenance")
  const muted = FailureGroupReader.use(({ list }) => list({ endpointId: endpoint.id, state: "muted" }, 10))
  const assertMuted = Effect.gen(function* () {
    expect(yield* list(endpoint.id)).toEqual([])
    expect(yield* muted).toMatchObject([{ id, mutedReason: "their nightly maintenance" }])
  })
  yield* assertMuted
  yield* wait(endpoint.id, 10)
  yield* call(0, 1)
  yield* close
  yield* assertMuted
  yield* call(1, 0)
  yield* assertMuted
  yield* repository.unmute(id)
  expect(yield* list(endpoint.id)).toMatchObject([{ id, failures: 1, mutedAt: null, mutedReason: null }])
  const absent = `fgr_${"0".repeat(32)}` as FailureGroupId
  expect(yield* Effect.flip(repository.mute(absent, "no reason"))).toMatchObject({ _tag: "FailureGroupNotFound" })
  expect(yield* Effect.flip(repository.unmute(absent))).toMatchObject({ _tag: "FailureGroupNotFound" })
})

test("A group without dead letters is deleted after a retention period without failures", function* () {
  const outcomes = yield* DeliveryOutcomes
  const { endpoint, call } = yield* seed(1)
  yield* call(1, 0)
  yield* outcomes.forgetGroups(3)
  expect(yield* list(endpoint.id)).toHaveLength(1)
  yield* wait(endpoint.id, 3 * 24 * 60 + 65)
  yield* outcomes.forgetGroups(3)
  expect(yield* sql`select from failure_groups where endpoint_id = ${endpoint.id}`).toEqual([])
})
