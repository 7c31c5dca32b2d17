import type { CampaignId } from "@outreach/domain/Identifier"
import { clockTest as test } from "@outreach/testing/runWith"
import { Clock, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect } from "vitest"
import { createSendingTurns } from "../../src/mail/createSendingTurns.ts"

const acme = "cmp_1" as CampaignId
const other = "cmp_2" as CampaignId

const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

const setUp = Effect.fnUntraced(function* (size: number, maxPerCampaign: number) {
  const takeTurn = yield* createSendingTurns(size, maxPerCampaign)
  /** Waits for a turn. `granted` returns the effect that releases it, and `record` ends it. */
  const begin = Effect.fnUntraced(function* (campaign = acme, seconds = 60n) {
    const scope = yield* Scope.make()
    const beginBy = (yield* Clock.currentTimeNanos) + seconds * 1_000_000_000n
    const fiber = yield* Effect.forkChild(Scope.provide(takeTurn(campaign, beginBy), scope))
    yield* settle
    return { fiber, granted: Fiber.join(fiber), record: Scope.close(scope, Exit.void) }
  })
  const take = Effect.fnUntraced(function* (campaign = acme) {
    const { granted, record } = yield* begin(campaign)
    return { release: (yield* granted)!, record }
  })
  return { begin, take }
})

describe("a turn", () => {
  test("is free again when the message has its outcome, and only once", function* () {
    const { begin, take } = yield* setUp(1, 1)
    const first = yield* take()
    const second = yield* begin()
    yield* first.release
    const release = (yield* second.granted)!
    const third = yield* begin()
    yield* first.record
    yield* settle
    expect(third.fiber.pollUnsafe()).toBeUndefined()
    yield* release
    expect(yield* third.granted).toBeDefined()
  })

  test("waits while two outcomes per turn are unrecorded", function* () {
    const { begin, take } = yield* setUp(2, 2)
    const answered = yield* Effect.forEach([1, 2, 3, 4], () => Effect.tap(take(), ({ release }) => release))
    const fifth = yield* begin()
    expect(fifth.fiber.pollUnsafe()).toBeUndefined()
    yield* answered[0]!.record
    expect(yield* fifth.granted).toBeDefined()
  })

  test("isn't taken by a campaign that has its share, and is by another", function* () {
    const { begin, take } = yield* setUp(2, 1)
    const first = yield* take()
    const second = yield* begin()
    expect(second.fiber.pollUnsafe()).toBeUndefined()
    yield* take(other)
    yield* first.record
    expect(yield* second.granted).toBeDefined()
  })

  test("is refused to a message that could outlast its lease", function* () {
    const { begin, take } = yield* setUp(1, 1)
    const { release } = yield* take()
    const late = [yield* begin(acme, -1n), yield* begin(acme, 5n), yield* begin(other, 5n)]
    yield* TestClock.adjust("5 seconds")
    for (const { granted } of late) expect(yield* granted).toBeUndefined()
    yield* release
    yield* take()
  })
})
