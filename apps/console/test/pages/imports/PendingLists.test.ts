import { rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { clockTest as test } from "@outreach/testing/runWith"
import { eventually } from "@outreach/testing/until"
import { Effect, Exit, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect } from "vitest"
import { KEPT_MS, MAX_PENDING, PendingLists } from "../../../src/pages/imports/PendingLists.ts"
import { temporaryFolder } from "../../temporaryFolder.ts"

const { folder, files } = temporaryFolder()
const layer = PendingLists.layer.pipe(Layer.provide(NodeFileSystem.layer))

/** Starts the lists of a console. `stop` stops its process. */
const started = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(layer, scope)
  return { context, stop: Scope.close(scope, Exit.void) }
})

const operator = (id: string) => ({ id, name: id }) as never
const hold = (by: string, content = "npi,email\n") =>
  PendingLists.use(({ hold }) =>
    hold(operator(by), "cmp_1" as never, { name: "list.csv", content: Stream.succeed(Buffer.from(content)) }),
  )

describe("a pending list", () => {
  test("is removed after 15 minutes, unless it is being imported", function* () {
    const { context, stop } = yield* started
    yield* Effect.gen(function* () {
      const lists = yield* PendingLists
      const [left, taken] = [yield* hold("one"), yield* hold("one")]
      yield* lists.take(taken)
      yield* TestClock.adjust(KEPT_MS - 1)
      expect([lists.find(operator("one"), "cmp_1" as never, left.id), files().length]).toEqual([left, 2])
      yield* TestClock.adjust(2)
      expect(lists.find(operator("one"), "cmp_1" as never, left.id)).toBeUndefined()
      // The clock is the test's, and the file system is not.
      const [kept] = yield* Effect.promise(() => eventually(files, ({ length }) => length === 1))
      expect(taken.path.endsWith(kept!)).toBe(true)
    }).pipe(Effect.provideContext(context))
    yield* stop
    expect(files()).toEqual([])
  })

  test("is removed for a newer one of the same operator only", function* () {
    const { context, stop } = yield* started
    yield* Effect.gen(function* () {
      const lists = yield* PendingLists
      const found = (by: string, { id }: { readonly id: string }) =>
        lists.find(operator(by), "cmp_1" as never, id) !== undefined
      const other = yield* hold("other")
      const own = yield* Effect.forEach(Array.from({ length: MAX_PENDING.ofOperator + 1 }), () => hold("one"))
      expect(own.map((list) => found("one", list))).toEqual([false, true, true, true])
      expect([found("other", other), found("one", other)]).toEqual([true, false])
      for (let i = MAX_PENDING.ofOperator + 1; i < MAX_PENDING.ofAll; i++) yield* hold(`operator ${i}`)
      expect(yield* Effect.flip(hold("late"))).toMatchObject({ status: 503 })
      expect(files()).toHaveLength(MAX_PENDING.ofAll)
    }).pipe(Effect.provideContext(context))
    yield* stop
    expect(files()).toEqual([])
  })

  test("of a killed process is removed by the next one, and that of a running process isn't", function* () {
    writeFileSync(join(folder, "outreach-console-list-old"), "x")
    writeFileSync(join(folder, "outreach-console-list-new"), "x")
    const hoursAgo = new Date(-2 * 3_600_000)
    utimesSync(join(folder, "outreach-console-list-old"), hoursAgo, hoursAgo)
    utimesSync(join(folder, "outreach-console-list-new"), new Date(0), new Date(0))
    const { stop } = yield* started
    yield* stop
    expect(files()).toEqual(["outreach-console-list-new"])
    rmSync(join(folder, "outreach-console-list-new"))
  })
})
