import type { CampaignId } from "@outreach/domain/Identifier"
import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { clockTest as test } from "@outreach/testing/runWith"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect } from "vitest"
import { createSendingTurns } from "../../src/mail/createSendingTurns.ts"

const acme = "cmp_1" as CampaignId
const other = "cmp_2" as CampaignId

const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

const setUp = Effect.fnUntraced(function* (size: number, perCampaign: number) {
  const turns = yield* createSendingTurns({ size, perCampaign, unrecorded: 2 * size })
  /** Waits for a turn. `granted` returns the effect that releases it, and `record` ends it. */
  const begin = Effect.fnUntraced(function* (campaign = acme, seconds = 60) {
    const granted = yield* Deferred.make<Effect.Effect<void> | undefined>()
    const beginBy = (yield* readMonotonicMs) + seconds * 1000
    const send = (release: Effect.Effect<void> | undefined) =>
      Effect.andThen(Deferred.succeed(granted, release), Effect.never)
    const fiber = yield* Effect.forkChild(turns.inTurn(campaign, beginBy, send))
    yield* settle
    return {
      hasBegun: () => Deferred.isDoneUnsafe(granted),
      granted: Deferred.await(granted),
      record: Effect.andThen(Fiber.interrupt(fiber), settle),
    }
  })
  const take = Effect.fnUntraced(function* (campaign = acme, seconds = 60) {
    const { granted, record } = yield* begin(campaign, seconds)
    return { release: Effect.andThen((yield* granted)!, settle), record }
  })
  return { ...turns, begin, take }
})

describe("a turn", () => {
  test("is free again when the message has its outcome, and only once", function* () {
    const { begin, take } = yield* setUp(1, 1)
    const first = yield* take()
    const second = yield* begin()
    expect(second.hasBegun()).toBe(false)
    yield* first.release
    expect(second.hasBegun()).toBe(true)
    const third = yield* begin()
    yield* first.record
    expect(third.hasBegun()).toBe(false)
    yield* second.record
    expect(third.hasBegun()).toBe(true)
  })

  test("waits while too many outcomes are unrecorded", function* () {
    const { begin, take } = yield* setUp(2, 2)
    const answered = yield* Effect.forEach([1, 2, 3, 4], () => Effect.tap(take(), ({ release }) => release))
    const fifth = yield* begin()
    expect(fifth.hasBegun()).toBe(false)
    yield* answered[0]!.record
    expect(fifth.hasBegun()).toBe(true)
  })

  test("isn't taken by a campaign that has its share, and is by another", function* () {
    const { begin, take } = yield* setUp(2, 1)
    const first = yield* take()
    const second = yield* begin()
    expect(second.hasBegun()).toBe(false)
    yield* take(other)
    yield* first.record
    expect(second.hasBegun()).toBe(true)
  })

  test("goes to messages in the order in which they wait", function* () {
    const { begin, take } = yield* setUp(1, 1)
    let { record } = yield* take()
    for (const next of yield* Effect.forEach([acme, other, acme], (campaign) => begin(campaign))) {
      expect(next.hasBegun()).toBe(false)
      yield* record
      expect(next.hasBegun()).toBe(true)
      record = next.record
    }
  })

  test("passes to the next message if a waiting one is interrupted", function* () {
    const { begin, take } = yield* setUp(1, 1)
    const { release } = yield* take()
    const second = yield* begin()
    const third = yield* begin()
    yield* second.record
    yield* release
    expect([second.hasBegun(), third.hasBegun()]).toEqual([false, true])
  })

  test("is refused to a message that could outlast its lease", function* () {
    const { begin, take } = yield* setUp(1, 1)
    const { release } = yield* take(acme, 5)
    const late = [yield* begin(acme, -1), yield* begin(acme, 5), yield* begin(other, 5)]
    const later = yield* begin(acme, 10)
    yield* TestClock.adjust("5 seconds")
    for (const { granted } of late) expect(yield* granted).toBeUndefined()
    expect(later.hasBegun()).toBe(false)
    yield* TestClock.adjust("5 seconds")
    expect(yield* later.granted).toBeUndefined()
    yield* release
    yield* take()
  })

  test("is refused after a stop, to messages that wait and to later ones", function* () {
    const { begin, take, stop } = yield* setUp(1, 1)
    const sending = yield* take()
    const waiting = yield* begin()
    yield* stop
    expect(yield* waiting.granted).toBeUndefined()
    yield* sending.record
    expect(yield* (yield* begin()).granted).toBeUndefined()
  })

  test("counts to the rate of the last second", function* () {
    const { take, perSecond } = yield* setUp(20, 20)
    expect(perSecond()).toBe(0)
    yield* Effect.forEach([1, 2, 3], () => take())
    expect(perSecond()).toBe(3)
    yield* TestClock.adjust("1 second")
    yield* take()
    expect(perSecond()).toBe(3)
    yield* TestClock.adjust("1 second")
    expect(perSecond()).toBe(1)
    yield* TestClock.adjust("1 second")
    expect(perSecond()).toBe(0)
  })
})
