import { describe, expect, it } from "@effect/vitest"
import { OrganizationId } from "@outreach/domain/Identifier"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { type Hint, Hints, type Topic } from "@outreach/postgres/events/Hints"
import { Signal } from "@outreach/postgres-connection/Signal"
import { clockTest } from "@outreach/testing/runWith"
import { Effect, Fiber, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { processInTurns, repeatWhenDue, retryForever, untilMore } from "../../src/loops/retryForever.ts"

/** A monitor that covers every failure; the test makes its database recover. */
const monitored = () => {
  const recoveries = new Signal()
  const layer = Layer.succeed(DatabaseMonitor, {
    fault: Effect.undefined,
    unusable: Effect.undefined,
    recoveries,
    secretsRead: Effect.void,
    covers: () => Effect.succeed(true),
  })
  return { recoveries, layer }
}

describe("a loop that fails with its database", () => {
  it.effect(
    "tries again at once when the database recovers, however long it has failed, and waits little after that",
    () => {
      const { recoveries, layer } = monitored()
      return Effect.gen(function* () {
        let tries = 0
        yield* Effect.forkScoped(
          retryForever(
            "test",
            Effect.suspend(() => Effect.fail(++tries)),
          ),
        )
        // After two minutes of failures, the wait has reached its maximum.
        yield* TestClock.adjust("125 seconds")
        const before = tries
        yield* TestClock.adjust("10 seconds")
        expect(tries).toBe(before)
        recoveries.raise()
        yield* TestClock.adjust(0)
        expect(tries).toBe(before + 1)
        yield* TestClock.adjust("500 millis")
        expect(tries).toBe(before + 2)
      }).pipe(Effect.scoped, Effect.provide(layer))
    },
  )

  it.effect("does not miss a recovery that comes while it fails", () => {
    const { recoveries, layer } = monitored()
    return Effect.gen(function* () {
      let tries = 0
      const step = Effect.suspend(() => {
        tries++
        if (tries === 12) recoveries.raise()
        return Effect.fail(tries)
      })
      yield* Effect.forkScoped(retryForever("test", step))
      yield* TestClock.adjust("181500 millis")
      expect(tries).toBe(12)
      yield* TestClock.adjust("500 millis")
      expect(tries).toBe(13)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
})

describe("repeatWhenDue", () => {
  clockTest("repeats a step when more is due, when a hint arrives, or when a hint may have been lost", function* () {
    let checkEveryMs = 10_000
    let waitMs = untilMore(undefined)
    let steps = 0
    let onHint: (hint: Hint) => Effect.Effect<void> = () => Effect.void
    const hints = Hints.of({
      isListening: () => true,
      checkEveryMs: () => checkEveryMs,
      give: () => Effect.void,
      listen: (listener) =>
        Effect.suspend(() => {
          onHint = listener
          return Effect.never
        }),
    })
    const step = Effect.sync(() => {
      steps++
      return waitMs
    })
    yield* Effect.forkChild(Effect.provideService(repeatWhenDue("test", "hits", step), Hints, hints))
    const after = Effect.fnUntraced(function* (ms: number, topic?: Topic) {
      if (topic !== undefined) yield* onHint({ topic, organizationId: null })
      yield* TestClock.adjust(ms)
      return steps
    })
    expect(yield* after(0)).toBe(1)
    expect(yield* after(9999, "inbox")).toBe(1)
    expect(yield* after(1)).toBe(2)
    waitMs = 3000
    expect(yield* after(0, "hits")).toBe(3)
    expect(yield* after(2999)).toBe(3)
    checkEveryMs = 1000
    expect(yield* after(1)).toBe(4)
    expect(yield* after(1000)).toBe(5)
  })
})

describe("processInTurns", () => {
  clockTest(
    "logs and skips a failing organization for a time that doubles until it succeeds, also when the clock is set back",
    function* () {
      const bad = OrganizationId.make(`org_${"1".repeat(32)}`)
      const good = OrganizationId.make(`org_${"2".repeat(32)}`)
      const calls: Array<string> = []
      const logged: Array<unknown> = []
      const logger = Logger.make(({ fiber }) => {
        logged.push(fiber.getRef(References.CurrentLogAnnotations)["organizationId"])
      })
      let isBroken = true
      const step = processInTurns("test", Effect.succeed([bad, good]), (id) =>
        Effect.suspend(() => {
          calls.push(id === bad ? "bad" : "good")
          return id === bad && isBroken ? Effect.die(new Error("broken")) : Effect.succeed(1)
        }),
      ).pipe(Effect.provide(Logger.layer([logger])))
      const after = Effect.fnUntraced(function* (ms: number) {
        yield* TestClock.adjust(ms)
        calls.length = 0
        return [yield* step, [...calls]]
      })
      expect(yield* after(0)).toEqual([1, ["bad", "good"]])
      yield* TestClock.setTime(-3_600_000)
      expect(yield* after(499)).toEqual([1, ["good"]])
      expect(yield* after(1)).toEqual([1, ["bad", "good"]])
      expect(yield* after(999)).toEqual([1, ["good"]])
      isBroken = false
      expect(yield* after(1)).toEqual([2, ["bad", "good"]])
      expect(yield* after(0)).toEqual([2, ["bad", "good"]])
      expect(logged).toEqual([bad, bad])
    },
  )

  clockTest("is interrupted in the middle of a turn", function* () {
    const fiber = yield* Effect.forkChild(
      processInTurns("test", Effect.succeed([OrganizationId.make(`org_${"1".repeat(32)}`)]), () => Effect.never),
      { startImmediately: true },
    )
    yield* Fiber.interrupt(fiber)
    expect(fiber.pollUnsafe()?._tag).toBe("Failure")
  })
})
