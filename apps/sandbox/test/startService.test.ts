import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { processToken } from "@outreach/embedded-postgres/processToken"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"
import { startService } from "../src/startService.ts"

const main = import.meta.resolve("./service.case.ts")

it("restarts a killed service, reports it, and leaves no process when its scope closes", async () => {
  const log = join(temporaryFolder("sandbox"), "worker.log")
  const pidsOf = async (count: number) => {
    const read = async () => [...(await readFile(log, "utf8").catch(() => "")).matchAll(/^started (\d+)$/gm)]
    return (await eventually(read, ({ length }) => length === count)).map(([, pid]) => Number(pid))
  }
  const incidents: Array<string | undefined> = []
  await Effect.runPromise(
    Effect.gen(function* () {
      const { incident } = yield* startService("worker", { main, environment: {}, log, isUp: () => true })
      const [first] = yield* Effect.promise(() => pidsOf(1))
      incidents.push(incident())
      process.kill(first!, "SIGKILL")
      yield* Effect.promise(() => eventually(incident, (text) => text !== undefined))
      incidents.push(incident())
      yield* TestClock.adjust("500 millis")
      yield* Effect.promise(() => pidsOf(2))
      incidents.push(incident())
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
  )
  expect(incidents).toEqual([
    undefined,
    "worker ended (SIGKILL), restarting in 0.5 s",
    "worker ended (SIGKILL), restarted",
  ])
  expect(await Promise.all((await pidsOf(2)).map(processToken))).toEqual([undefined, undefined])
})

/** Starts a service that exits immediately. Returns the message with which the sandbox gives up. */
const giveUp = async (isUp: boolean) => {
  const log = join(temporaryFolder("sandbox"), "worker.log")
  const { message } = await Effect.runPromise(
    Effect.gen(function* () {
      const service = yield* startService("worker", { main, environment: { ENDS: "1" }, log, isUp: () => isUp })
      const failed = yield* Effect.forkChild(Effect.flip(service.failed))
      while (failed.pollUnsafe() === undefined) {
        const isOver = () => failed.pollUnsafe() !== undefined
        const isWaiting = () => service.incident()?.includes("restarting") === true
        yield* Effect.promise(() => eventually(() => isOver() || isWaiting(), Boolean))
        // The clock advances only between runs, so that no run counts as healthy.
        if (isWaiting()) yield* TestClock.adjust("1 second")
      }
      return yield* Fiber.join(failed)
    }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
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
