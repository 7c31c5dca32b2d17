import { Console, Effect } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { Output } from "../src/output/Output.ts"
import { progressBar } from "../src/output/progressBar.ts"

/** Shows the progress of ten steps, one every two seconds, without a terminal. */
const work = (options: { readonly json?: boolean; readonly quiet?: boolean }): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  const console = { ...globalThis.console, error: (text: string) => lines.push(text) } as unknown as Console.Console
  return Effect.gen(function* () {
    const bar = yield* progressBar("Importing", 10, { quiet: options.quiet ?? false })
    for (let step = 0; step < 10; step++) {
      yield* TestClock.adjust("2 seconds")
      yield* bar.advance(1)
    }
    return lines
  }).pipe(
    Effect.scoped,
    Effect.provide(TestClock.layer()),
    Effect.provideService(Console.Console, console),
    Effect.provideService(Output, { json: options.json ?? false }),
    Effect.runPromise,
  )
}

describe("progress", () => {
  it.skipIf(process.stderr.isTTY)(
    "is a line at least five seconds after the last, where there is no terminal",
    async () => {
      expect(await work({})).toEqual(["Importing: 30%", "Importing: 60%", "Importing: 90%"])
    },
  )

  it("is not shown with --json or --quiet", async () => {
    expect(await work({ json: true })).toEqual([])
    expect(await work({ quiet: true })).toEqual([])
  })
})
