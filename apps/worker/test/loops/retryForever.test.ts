import { describe, expect, it } from "@effect/vitest"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { Signal } from "@outreach/postgres-connection/Signal"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { retryForever } from "../../src/loops/retryForever.ts"

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
