import { describe, expect, it } from "@effect/vitest"
import { EndpointId } from "@outreach/domain/Identifier"
import { Effect, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { deadLetterLog } from "../../src/deliveries/deadLetterLog.ts"

const deadLetter = (n: number) => ({
  deliveryId: `dlv_${String(n).padStart(32, "0")}` as never,
  endpointId: EndpointId.make(`whe_${"0".repeat(32)}`),
})

const warnings = () => {
  const lines: unknown[] = []
  const logger = Logger.make(({ message, fiber, logLevel }) => {
    if (logLevel === "Warn") lines.push([message, fiber.getRef(References.CurrentLogAnnotations)])
  })
  return { lines, layer: Logger.layer([logger]) }
}

describe("the log of dead letters", () => {
  it.effect("has one line for thousands of them, with the count and the first of each reason", () => {
    const { lines, layer } = warnings()
    return Effect.gen(function* () {
      const note = yield* deadLetterLog
      for (let n = 0; n < 5000; n++) yield* note(n % 5 === 4 ? "exhausted" : "rejected", deadLetter(n))
      expect(lines).toEqual([])
      yield* TestClock.adjust("10 seconds")
      expect(lines).toEqual([
        [
          ["deliveries dead-lettered"],
          { rejected: { count: 4000, first: deadLetter(0) }, exhausted: { count: 1000, first: deadLetter(4) } },
        ],
      ])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("is silent without any, and tells of those that are left when the worker stops", () => {
    const { lines, layer } = warnings()
    return Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const note = yield* deadLetterLog
          yield* TestClock.adjust("1 minute")
          yield* note("poison", deadLetter(1))
        }),
      )
      expect(lines).toEqual([[["deliveries dead-lettered"], { poison: { count: 1, first: deadLetter(1) } }]])
    }).pipe(Effect.provide(layer))
  })
})
