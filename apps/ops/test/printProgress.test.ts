import { Console, Effect } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"
import { Output, printProgress } from "../src/output/Output.ts"

/** Shows the progress of a step after ten seconds. */
const work = (options: { readonly json?: boolean; readonly quiet?: boolean }): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  const console = { ...globalThis.console, error: (text: string) => lines.push(text) } as unknown as Console.Console
  return Effect.gen(function* () {
    const bar = yield* printProgress("Importing", 10, { quiet: options.quiet ?? false })
    yield* TestClock.adjust("10 seconds")
    yield* bar.advance(1)
    return lines
  }).pipe(
    Effect.scoped,
    Effect.provide(TestClock.layer()),
    Effect.provideService(Console.Console, console),
    Effect.provideService(Output, options.json === true ? "json" : "table"),
    Effect.runPromise,
  )
}

it("progress is not shown with --output json or --quiet", async () => {
  expect(await work({ json: true })).toEqual([])
  expect(await work({ quiet: true })).toEqual([])
})
