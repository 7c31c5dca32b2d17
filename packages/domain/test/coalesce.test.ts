import { describe, expect, it } from "@effect/vitest"
import { coalesce } from "@outreach/domain/coalesce"
import { Deferred, Effect, Exit, Fiber, Scheduler, Scope } from "effect"

describe("coalesce", () => {
  it.effect("batches calls made during a write up to the limit, and returns each call's result", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const batches: Array<ReadonlyArray<number>> = []
      const double = yield* coalesce(3, (items: ReadonlyArray<number>) => {
        batches.push(items)
        return Effect.as(
          Deferred.await(gate),
          items.map((item) => 2 * item),
        )
      })
      const first = yield* Effect.forkChild(double(0), { startImmediately: true })
      while (batches.length === 0) yield* Effect.yieldNow
      const others = yield* Effect.forkChild(Effect.forEach([1, 2, 3, 4, 5], double, { concurrency: "unbounded" }), {
        startImmediately: true,
      })
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      expect([yield* Fiber.join(first), ...(yield* Fiber.join(others))]).toEqual([0, 2, 4, 6, 8, 10])
      expect(batches).toEqual([[0], [1, 2, 3], [4, 5]])
    }),
  )

  it.effect("writes a lone call at once", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<number>> = []
      const write = yield* coalesce(
        10,
        (items: ReadonlyArray<number>) => {
          batches.push(items)
          return Effect.as(Effect.yieldNow, items)
        },
        { concurrency: 4 },
      )
      for (const item of [1, 2]) {
        const call = yield* Effect.forkChild(write(item), { startImmediately: true })
        expect(batches.at(-1)).toEqual([item])
        yield* Fiber.join(call)
      }
    }),
  )

  it.effect("writes calls of one turn together when another write is under way", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<number>> = []
      const gate = yield* Deferred.make<void>()
      const write = yield* coalesce(
        2,
        (items: ReadonlyArray<number>) => {
          batches.push(items)
          return Effect.as(Deferred.await(gate), items)
        },
        { concurrency: 3 },
      )
      const calls = yield* Effect.forkChild(Effect.forEach([1, 2, 3, 4, 5], write, { concurrency: "unbounded" }))
      while (batches.length < 3) yield* Effect.yieldNow
      expect(batches).toEqual([[1], [2, 3], [4, 5]])
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(calls)).toEqual([1, 2, 3, 4, 5])
    }),
  )

  it.each([3, 4, 7, 11])(
    "loses no call that comes while its writer makes room for others (after %i steps)",
    async (steps) => {
      const turns = async (count: number) => {
        for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
      }
      const scope = Scope.makeUnsafe()
      const write = await Effect.runPromise(
        coalesce(10, (items: ReadonlyArray<number>) => Effect.succeed(items)).pipe(
          Scope.provide(scope),
          Effect.provideService(Scheduler.MaxOpsBeforeYield, steps),
        ),
      )
      for (let item = 0; item < 30; item++) {
        expect(await Effect.runPromise(write(item))).toBe(item)
        await turns(item)
      }
      await Effect.runPromise(Scope.close(scope, Exit.void))
    },
  )

  it.effect("repeats no write that counts", () =>
    Effect.gen(function* () {
      let counted = 0
      const loseReply = (items: ReadonlyArray<number>) => {
        counted += items.length
        return Effect.fail("the reply was lost")
      }
      const write = yield* coalesce(10, loseReply, { isRepeatable: false })
      yield* Effect.forEach([1, 2, 3], (item) => Effect.exit(write(item)), { concurrency: "unbounded" })
      expect(counted).toBe(3)
    }),
  )

  it.effect("lets only a bad item fail, and continues", () =>
    Effect.gen(function* () {
      const write = yield* coalesce(10, (items: ReadonlyArray<number>) => {
        if (items.includes(14)) throw new Error("a defect")
        return items.includes(13) ? Effect.fail("bad" as const) : Effect.succeed(items)
      })
      const exits = yield* Effect.forEach([1, 13, 14, 2], (item) => Effect.exit(write(item)), {
        concurrency: "unbounded",
      })
      expect(exits.map(({ _tag }) => _tag)).toEqual(["Success", "Failure", "Failure", "Success"])
      expect(yield* write(3)).toBe(3)
    }),
  )
})
