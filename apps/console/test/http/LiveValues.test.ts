import { expect, it } from "@effect/vitest"
import { type Today, TodayReader } from "@outreach/backoffice/today/TodayReader"
import { OperatorId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Fiber, Layer, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"
import { LiveValues, MAX_OF_OPERATOR, MAX_OF_SESSION, MAX_VIEWERS, type Viewer } from "../../src/http/LiveValues.ts"

const TODAY: Today = {
  sending: { campaigns: 0, sentInLastMinute: 0, remaining: null },
  ...{ oldestDueSeconds: 0, breakersOpen: 0, deadLetters: 0, failing: 0, inboxQuarantined: 0 },
  ...{ domainsRefusing: 0, workers: 1, quota: null },
}
const ORGANIZATION = OrganizationId.make(`org_${"0".repeat(32)}`)

/** Returns a viewer by number, each with a session, and two sessions to an operator. */
const viewerOf = (n: number, organizationId: OrganizationId | null = null): Viewer => ({
  operatorId: OperatorId.make(`opr_${String(n >> 1).padStart(32, "0")}`),
  session: `session ${n}`,
  organizationId,
})

/** Live values over a reader that counts what is read. */
const counted = (read: (scope: string) => Effect.Effect<Today> = () => Effect.succeed(TODAY)) => {
  const reads: Array<string> = []
  const reader = Layer.succeed(TodayReader, {
    read: (organizationId: string | null) =>
      Effect.suspend(() => {
        reads.push(organizationId ?? "all")
        return read(organizationId ?? "all")
      }),
  } as never)
  return { reads, layer: Layer.provide(LiveValues.layer, reader) }
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

it.effect("reads separately for the deployment and for an organization", () => {
  const { reads, layer } = counted()
  return Effect.gen(function* () {
    const { texts } = yield* LiveValues
    const viewers = yield* Effect.forEach([null, ORGANIZATION, ORGANIZATION], (scope) =>
      Effect.forkChild(Stream.runHead(texts(viewerOf(0, scope)))),
    )
    yield* pass(0)
    yield* Effect.forEach(viewers, Fiber.join)
    expect(reads.toSorted()).toEqual(["all", ORGANIZATION])
  }).pipe(Effect.provide(layer))
})

it.effect("continues after failed readings, and logs the first of them", () => {
  const logged: Array<unknown> = []
  const { reads, layer } = counted(() => (reads.length <= 3 ? Effect.die("away") : Effect.succeed(TODAY)))
  return Effect.gen(function* () {
    const { texts } = yield* LiveValues
    const viewer = yield* Effect.forkChild(Stream.runHead(texts(viewerOf(0))))
    yield* pass(6)
    yield* Fiber.join(viewer)
    expect(reads.length).toBe(4)
    expect(logged).toEqual(["live values could not be read"])
  }).pipe(
    Effect.provide(
      Layer.provideMerge(layer, Logger.layer([Logger.make(({ message }) => logged.push(...[message].flat()))])),
    ),
  )
})

it.effect("keeps at most two readings for a slow viewer", () => {
  let dead = 0
  const { layer } = counted(() => Effect.sync(() => ({ ...TODAY, deadLetters: dead++ })))
  return Effect.gen(function* () {
    const { texts } = yield* LiveValues
    const seen: Array<string | undefined> = []
    const slow = texts(viewerOf(0)).pipe(
      Stream.take(4),
      Stream.runForEach((values) =>
        Effect.andThen(
          Effect.sync(() => seen.push(values["dead-letters"])),
          Effect.sleep("1 minute"),
        ),
      ),
    )
    const viewer = yield* Effect.forkChild(slow)
    yield* pass(300)
    yield* Fiber.join(viewer)
    expect(seen.length).toBe(4)
    expect(Number(seen[3])).toBeGreaterThan(50)
  }).pipe(Effect.provide(layer))
})

/** Opens streams of a viewer that stay open. */
const openStreams = Effect.fnUntraced(function* (viewer: Viewer, count: number) {
  const { texts } = yield* LiveValues
  const streams = yield* Effect.replicateEffect(Effect.forkChild(Stream.runDrain(texts(viewer))), count)
  yield* pass(1)
  return streams
})

it.effect("closes all streams when the process stops, and rejects further ones at the limit", () => {
  const { layer } = counted()
  return Effect.gen(function* () {
    const { refuses, stop } = yield* LiveValues
    const streams = yield* Effect.forEach(Array.from({ length: MAX_VIEWERS }), (_, n) =>
      Effect.map(openStreams(viewerOf(n), 1), ([stream]) => stream!),
    )
    expect(yield* refuses(viewerOf(MAX_VIEWERS))).toBe("viewers")
    yield* Fiber.interrupt(streams[0]!)
    expect(yield* refuses(viewerOf(MAX_VIEWERS))).toBeUndefined()
    yield* stop
    yield* Effect.forEach(streams.slice(1), Fiber.join)
  }).pipe(Effect.provide(layer))
})

it.effect("limits the streams of a session and of an operator, and not those of others", () => {
  const { layer } = counted()
  return Effect.gen(function* () {
    const { texts, refuses } = yield* LiveValues
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
  }).pipe(Effect.provide(layer))
})
