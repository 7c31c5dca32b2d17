import { expect, it } from "@effect/vitest"
import { type Today, TodayReader } from "@outreach/backoffice/today/TodayReader"
import { OperatorId } from "@outreach/domain/Identifier"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { LiveValues, MAX_OF_OPERATOR, MAX_OF_SESSION, MAX_VIEWERS, type Viewer } from "../../src/http/LiveValues.ts"

const TODAY: Today = {
  sending: { campaigns: 0, sentInLastMinute: 0, remaining: null },
  ...{ oldestDueSeconds: 0, breakersOpen: 0, deadLetters: 0, failing: 0, inboxQuarantined: 0 },
  ...{ domainsRefusing: 0, workers: 1, quota: null },
}

/** Returns a viewer by number, each with a session, and two sessions to an operator. */
const viewerOf = (n: number): Viewer => ({
  operatorId: OperatorId.make(`opr_${String(n >> 1).padStart(32, "0")}`),
  session: `session ${n}`,
  organizationId: null,
})

/** Live values over a reader that counts what is read. */
const counted = () => {
  const reads: Array<Today> = []
  const read = () =>
    Effect.sync(() => {
      reads.push(TODAY)
      return TODAY
    })
  return { reads, layer: Layer.provide(LiveValues.layer, Layer.succeed(TodayReader, { read } as never)) }
}

/** Runs fibers until they wait, and then advances the clock second by second. */
const pass = Effect.fnUntraced(function* (seconds: number) {
  const settle = Effect.repeat(Effect.yieldNow, { times: 100 })
  yield* settle
  for (let second = 0; second < seconds; second++) yield* Effect.andThen(TestClock.adjust("1 second"), settle)
})

it.effect("reads once for three viewers, every two seconds while one of them is connected", () => {
  const { reads, layer } = counted()
  return Effect.gen(function* () {
    const { texts } = yield* LiveValues
    const look = (readings: number) => Effect.forkChild(Stream.runCollect(Stream.take(texts(viewerOf(0)), readings)))
    yield* pass(60)
    expect(reads).toEqual([])

    const viewers = [yield* look(3), yield* look(3), yield* look(5)]
    yield* pass(1)
    expect(reads.length).toBe(1)
    yield* pass(1)
    expect(reads.length).toBe(2)
    yield* pass(10)
    expect(reads.length).toBe(5)
    const seen = yield* Effect.forEach(viewers, Fiber.join)
    expect(seen.map(({ length }) => length)).toEqual([3, 3, 5])

    yield* pass(60)
    expect(reads.length).toBe(5)
    const again = yield* look(1)
    yield* pass(0)
    expect((yield* Fiber.join(again)).length).toBe(1)
    expect(reads.length).toBe(6)
  }).pipe(Effect.provide(layer))
})

/** Opens streams of a viewer that stay open. */
const openStreams = Effect.fnUntraced(function* (viewer: Viewer, count: number) {
  const { texts } = yield* LiveValues
  const streams = yield* Effect.replicateEffect(Effect.forkChild(Stream.runDrain(texts(viewer))), count)
  yield* pass(1)
  return streams
})

it.effect(
  "limits the streams of a session, an operator and the process, and closes all of them when the process stops",
  () => {
    const { layer } = counted()
    return Effect.gen(function* () {
      const { texts, refuses, stop } = yield* LiveValues
      const streams = yield* openStreams(viewerOf(0), MAX_OF_SESSION)
      expect(yield* refuses(viewerOf(0))).toBe("viewer")
      // A stream that was let in before the others began is empty.
      expect(yield* Stream.runCollect(texts(viewerOf(0)))).toEqual([])
      expect(yield* refuses(viewerOf(1))).toBeUndefined()
      yield* openStreams(viewerOf(1), MAX_OF_OPERATOR - MAX_OF_SESSION)
      expect(yield* refuses({ ...viewerOf(0), session: "a third one" })).toBe("viewer")
      expect(yield* refuses(viewerOf(2))).toBeUndefined()
      yield* Fiber.interrupt(streams[0]!)
      expect(yield* refuses(viewerOf(0))).toBeUndefined()
      const others = yield* Effect.forEach(Array.from({ length: MAX_VIEWERS - MAX_OF_OPERATOR + 1 }), (_, n) =>
        openStreams(viewerOf(n + 2), 1),
      )
      expect(yield* refuses(viewerOf(MAX_VIEWERS + 2))).toBe("viewers")
      yield* stop
      yield* Effect.forEach([...streams.slice(1), ...others.flat()], Fiber.join)
    }).pipe(Effect.provide(layer))
  },
)
