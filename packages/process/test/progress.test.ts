import { execFileSync, spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Console, Effect } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { progressBar } from "../src/progress.ts"

const SHOWS_PROGRESS = fileURLToPath(import.meta.resolve("./run/showsProgress.ts"))

describe("progress", () => {
  it.skipIf(process.stderr.isTTY)("prints a line every five seconds at most without a terminal", async () => {
    const lines: Array<string> = []
    const console = { ...globalThis.console, error: (text: string) => lines.push(text) } as unknown as Console.Console
    await Effect.gen(function* () {
      const bar = yield* progressBar("Importing", 10)
      for (let step = 0; step < 10; step++) {
        yield* TestClock.adjust("2 seconds")
        yield* bar.advance(1)
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(TestClock.layer()),
      Effect.provideService(Console.Console, console),
      Effect.runPromise,
    )
    expect(lines).toEqual(["Importing: 30%", "Importing: 60%", "Importing: 90%"])
  })

  it("prints each line that differs from the one before it without a terminal", () => {
    expect(spawnSync(process.execPath, [SHOWS_PROGRESS], { encoding: "utf8" }).stderr).toBe(`one\n${"x".repeat(200)}\n`)
  })

  // util-linux's script gives a process a terminal, of 80 columns here.
  it.skipIf(spawnSync("script", ["--version"]).status !== 0)("replaces its line on a terminal, and cuts it", () => {
    const command = `stty cols 80; ${process.execPath} ${SHOWS_PROGRESS}`
    const shown = execFileSync("script", ["-qec", command, "/dev/null"], { encoding: "utf8" })
    const [line, bar] = shown.split("\r\n") as [string, string]
    expect(line.split("\r\u001b[2K")).toEqual(["", "one", "x".repeat(79)])
    const [, none, half, done] = bar.split("\r\u001b[2K")
    expect(none).toBe(`Importing ${"░".repeat(40)} 0%`)
    expect(half).toMatch(/^Importing █{20}░{20} 50%/)
    expect(done).toMatch(/^Importing █{40} 100%/)
  })
})
