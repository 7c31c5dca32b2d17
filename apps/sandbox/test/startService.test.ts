import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { eventually } from "@outreach/testing/eventually"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"
import { startService } from "../src/startService.ts"
import { runs } from "./processTree.ts"
import { sandboxFolder } from "./runSandbox.ts"

const main = import.meta.resolve("./service.case.ts")

it("starts a killed service again, says so, and leaves nothing when its scope closes", async () => {
  const log = join(await sandboxFolder(), "worker.log")
  const started = async (least: number) => {
    const lines = (text: string) => text.trim().split("\n").filter(Boolean)
    const all = await eventually(
      async () => lines(await readFile(log, "utf8").catch(() => "")),
      ({ length }) => length >= least,
    )
    return all.map((line) => Number(line.replace("started ", "")))
  }
  const incidents: Array<string | undefined> = []
  await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { incident } = yield* startService("worker", { main, environment: {}, log, isUp: () => true })
        const [first] = yield* Effect.promise(() => started(1))
        incidents.push(incident())
        process.kill(first!, "SIGKILL")
        yield* Effect.promise(() =>
          eventually(
            async () => incident(),
            (text) => text !== undefined,
          ),
        )
        incidents.push(incident())
        yield* Effect.promise(() => started(2))
        incidents.push(incident())
      }),
    ),
  )
  expect(incidents).toEqual([
    undefined,
    "worker ended (SIGKILL), restarting in 0.5 s",
    "worker ended (SIGKILL), restarted",
  ])
  expect((await started(2)).filter(runs)).toEqual([])
})

/** Starts a service that ends at once, and returns the message with which the sandbox gives it up. */
const giveUp = async (isUp: boolean) => {
  const log = join(await sandboxFolder(), "worker.log")
  const { message } = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const service = yield* startService("worker", { main, environment: { ENDS: "1" }, log, isUp: () => isUp })
        const failed = yield* Effect.forkChild(Effect.flip(service.failed))
        while (failed.pollUnsafe() === undefined) {
          // The clock advances only between the runs, so that no run counts as healthy.
          if (service.incident()?.includes("restarting")) yield* TestClock.adjust("1 second")
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))
        }
        return yield* Fiber.join(failed)
      }),
    ).pipe(Effect.provide(TestClock.layer())),
  )
  return { message, starts: (await readFile(log, "utf8")).match(/started/g)!.length }
}

it("gives a service up that ends five times after a restart, with its last output", async () => {
  const { message, starts } = await giveUp(true)
  expect(message).toMatch(
    /^The worker keeps ending: it was restarted 5 times in a row, and ended again \(exit code 3\)\. Its last output, in .*worker\.log:\n(started \d+\n?)+$/,
  )
  expect(starts).toBe(6)
})

it("gives a service up at once that exits before the sandbox is up", async () => {
  const { message, starts } = await giveUp(false)
  expect(message).toMatch(/^The worker has ended\. Its last output, in .*worker\.log:\nstarted \d+$/)
  expect(starts).toBe(1)
})
