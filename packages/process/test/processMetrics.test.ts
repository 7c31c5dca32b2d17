import { Effect } from "effect"
import { expect, it } from "vitest"
import { measureProcess } from "../src/processMetrics.ts"

it("shows each kind of garbage collection from the start, so that a rate counts the first", async () => {
  const metrics = await Effect.runPromise(Effect.flatten(measureProcess))
  const sums = [...metrics.matchAll(/^nodejs_gc_duration_seconds_sum\{kind="(\w+)"\}/gm)].map(([, kind]) => kind)
  expect(sums).toEqual(["major", "minor", "incremental", "weakcb"])
})
