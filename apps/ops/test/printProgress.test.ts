import { TaskProgress } from "@outreach/backoffice/TaskProgress"
import { Console, Effect } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"
import { Output, showingProgress } from "../src/output/Output.ts"

/** Shows the progress of a step after ten seconds, and then a warning. */
const work = (options: { readonly json?: boolean; readonly quiet?: boolean }): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  const console = { ...globalThis.console, error: (text: string) => lines.push(text) } as unknown as Console.Console
  return Effect.gen(function* () {
    const { say, warn, bar } = yield* TaskProgress
    const { advance } = yield* bar("Importing", 10)
    yield* TestClock.adjust("10 seconds")
    yield* advance(1)
    yield* say("said")
    yield* warn("warned")
    return lines
  }).pipe(
    showingProgress(options.quiet),
    Effect.scoped,
    Effect.provide(TestClock.layer()),
    Effect.provideService(Console.Console, console),
    Effect.provideService(Output, options.json === true ? "json" : "table"),
    Effect.runPromise,
  )
}

it("progress is not shown with --output json or --quiet, but warnings are shown with --quiet", async () => {
  expect(await work({})).toEqual(["Importing: 10%", "said", "warned"])
  expect(await work({ json: true })).toEqual([])
  expect(await work({ quiet: true })).toEqual(["warned"])
})
