import { OrganizationId } from "@outreach/domain/Identifier"
import { clockTest } from "@outreach/testing/effectTest"
import { Effect, Fiber, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect } from "vitest"
import { processInTurns } from "../../src/loops/retryForever.ts"

describe("processInTurns", () => {
  clockTest("logs and skips a failing organization for a time that doubles until it succeeds", function* () {
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
    expect(yield* after(499)).toEqual([1, ["good"]])
    expect(yield* after(1)).toEqual([1, ["bad", "good"]])
    expect(yield* after(999)).toEqual([1, ["good"]])
    isBroken = false
    expect(yield* after(1)).toEqual([2, ["bad", "good"]])
    expect(yield* after(0)).toEqual([2, ["bad", "good"]])
    expect(logged).toEqual([bad, bad])
  })

  clockTest("is interrupted in the middle of a turn", function* () {
    const fiber = yield* Effect.forkChild(
      processInTurns("test", Effect.succeed([OrganizationId.make(`org_${"1".repeat(32)}`)]), () => Effect.never),
      { startImmediately: true },
    )
    yield* Fiber.interrupt(fiber)
    expect(fiber.pollUnsafe()?._tag).toBe("Failure")
  })
})
