import { clockTest as test } from "@outreach/testing/runWith"
import { Deferred, Effect, Exit, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect } from "vitest"
import { claimLoop } from "../../src/loops/claimLoop.ts"

/** A queue with numbered leases that reports its events. */
const setUp = Effect.fnUntraced(function* ({
  work: leases = [],
  ...options
}: Partial<Omit<Parameters<typeof claimLoop<number, never, never>>[1], "concurrency">> & {
  readonly work?: ReadonlyArray<number>
  readonly concurrency?: number
}) {
  const work = [...leases]
  const claims: number[] = []
  const started: number[] = []
  const finished: number[] = []
  const begun = yield* Queue.unbounded<number>()
  const gates = new Map<number, Deferred.Deferred<void>>()
  const gate = (n: number) => {
    const known = gates.get(n) ?? Deferred.makeUnsafe<void>()
    gates.set(n, known)
    return known
  }
  const loop = claimLoop("test", {
    ...{ drainSeconds: 0, ...options, concurrency: () => options.concurrency ?? 2 },
    claim: (limit) =>
      Effect.sync(() => {
        claims.push(limit)
        return work.splice(0, limit)
      }),
    handle: Effect.fnUntraced(function* (n: number) {
      started.push(n)
      yield* Queue.offer(begun, n)
      yield* Deferred.await(gate(n))
      finished.push(n)
    }),
  })
  return {
    work,
    claims,
    started,
    finished,
    /** Waits until the handling of a number of leases has started. */
    begin: (count: number) => Effect.forEach(Array.from({ length: count }), () => Queue.take(begun)),
    finish: (n: number) => Deferred.succeed(gate(n), undefined),
    loop,
  }
})

const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

describe("claimLoop", () => {
  test("keeps no more in flight than it may, and claims as soon as one is done", function* () {
    const test = yield* setUp({ work: [1, 2, 3, 4] })
    yield* Effect.forkChild(test.loop)
    yield* test.begin(2)
    yield* settle
    expect(test.started).toEqual([1, 2])
    yield* test.finish(2)
    expect(yield* test.begin(1)).toEqual([3])
    expect(test.finished).toEqual([2])
  })

  test("claims less often while there is no work, but at least once a second", function* () {
    const test = yield* setUp({})
    yield* Effect.forkChild(test.loop)
    yield* TestClock.adjust("2 seconds")
    const early = test.claims.length
    expect(early).toBeGreaterThan(3)
    yield* TestClock.adjust("10 seconds")
    expect(test.claims.length - early).toBe(10)
    test.work.push(1)
    yield* TestClock.adjust("1 second")
    expect(test.started).toEqual([1])
  })

  test("claims no more before the next lease is due, unless it is told of something new", function* () {
    const hinted = yield* Queue.unbounded<void>()
    const test = yield* setUp({
      untilDue: Effect.succeed(10_000),
      listen: (wake) => Effect.forever(Effect.andThen(Queue.take(hinted), wake)),
    })
    yield* Effect.forkChild(test.loop)
    yield* TestClock.adjust("9 seconds")
    expect(test.claims.length).toBe(1)
    yield* Queue.offer(hinted, undefined)
    yield* settle
    expect(test.claims.length).toBe(2)
    yield* TestClock.adjust("10 seconds")
    expect(test.claims.length).toBe(3)
  })

  test("waits with a claim until half are done, but not for long, and not when told of something new", function* () {
    const hinted = yield* Queue.unbounded<void>()
    const test = yield* setUp({
      ...{ work: Array.from({ length: 12 }, (_, n) => n), concurrency: 4 },
      listen: (wake) => Effect.forever(Effect.andThen(Queue.take(hinted), wake)),
    })
    const finish = (...leases: ReadonlyArray<number>) =>
      Effect.andThen(Effect.forEach(leases, test.finish, { discard: true }), settle)
    yield* Effect.forkChild(test.loop)
    yield* settle
    expect(test.claims).toEqual([4])
    yield* finish(0)
    expect(test.claims).toEqual([4])
    yield* finish(1)
    expect(test.claims).toEqual([4, 2])
    yield* finish(2)
    yield* TestClock.adjust("250 millis")
    expect(test.claims).toEqual([4, 2, 1])
    yield* finish(3)
    yield* Queue.offer(hinted, undefined)
    yield* settle
    expect(test.claims).toEqual([4, 2, 1, 1])
    yield* Queue.offer(hinted, undefined)
    yield* settle
    expect(test.claims).toEqual([4, 2, 1, 1])
  })

  test("outlives a claim that fails, without spinning", function* () {
    let claims = 0
    const loop = claimLoop("test", {
      concurrency: () => 2,
      drainSeconds: 20,
      claim: () =>
        Effect.suspend(() => {
          claims += 1
          return Effect.die(new Error("the database is down"))
        }),
      handle: () => Effect.void,
    })
    yield* Effect.forkChild(loop)
    yield* TestClock.adjust("1 minute")
    const early = claims
    expect(early).toBeGreaterThan(3)
    expect(early).toBeLessThan(10)
    yield* TestClock.adjust("10 minutes")
    expect(claims - early).toBe(20)
  })

  test("continues after the handling of a lease fails, and starts the next one", function* () {
    const work = [1, 2, 3]
    const handled = yield* Queue.unbounded<number>()
    const loop = claimLoop("test", {
      concurrency: () => 1,
      drainSeconds: 20,
      claim: (limit) => Effect.sync(() => work.splice(0, limit)),
      handle: (n: number) => Effect.andThen(Queue.offer(handled, n), Effect.die(new Error("a defect"))),
    })
    yield* Effect.forkChild(loop)
    expect(yield* Queue.takeN(handled, 3)).toEqual([1, 2, 3])
  })

  test("stops claiming when it is interrupted, and waits for the work in flight", function* () {
    let stops = 0
    const onStop = Effect.sync(() => {
      stops += 1
    })
    const test = yield* setUp({ work: [1, 2, 3], drainSeconds: 20, onStop })
    const fiber = yield* Effect.forkChild(test.loop)
    yield* test.begin(2)
    const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
    yield* settle
    yield* test.finish(1)
    yield* settle
    expect(fiber.pollUnsafe()).toBeUndefined()
    expect(stops).toBe(1)
    yield* test.finish(2)
    yield* Fiber.join(stopping)
    expect(test.finished).toEqual([1, 2])
    expect(test.work).toEqual([3])
    expect(Exit.hasInterrupts(yield* Fiber.await(fiber))).toBe(true)
  })

  test("abandons work that doesn't finish within the drain time", function* () {
    const test = yield* setUp({ work: [1, 2], drainSeconds: 20 })
    const fiber = yield* Effect.forkChild(test.loop)
    yield* test.begin(2)
    const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
    yield* TestClock.adjust("19 seconds")
    expect(fiber.pollUnsafe()).toBeUndefined()
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(stopping)
    expect(test.finished).toEqual([])
  })
})
