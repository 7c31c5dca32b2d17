import { expect, it } from "@effect/vitest"
import { settleAll } from "@outreach/domain/settleAll"
import { Effect } from "effect"

it.effect("runs every effect even if some fail, and then fails with all failures", () =>
  Effect.gen(function* () {
    const ran: Array<number> = []
    const task = (n: number) => Effect.sync(() => ran.push(n))
    expect(yield* settleAll([task(0), task(1)])).toEqual([1, 2])
    const failing = settleAll([Effect.die("defect"), task(2), Effect.fail("failure"), task(3)])
    const { reasons } = yield* Effect.flip(Effect.sandbox(failing))
    expect(reasons.map(({ _tag }) => _tag)).toEqual(["Die", "Fail"])
    expect(ran).toEqual([0, 1, 2, 3])
  }),
)
