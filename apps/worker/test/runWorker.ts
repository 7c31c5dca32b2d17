import { telemetry } from "@outreach/process/telemetry"
import { eventually } from "@outreach/testing/eventually"
import { ConfigProvider, Console, Effect, Fiber, Layer, Metric } from "effect"
import { expect, onTestFinished } from "vitest"
import { worker } from "../src/worker.ts"
import { settingsFor } from "./startWorker.ts"

/** Runs the worker in this process as `main.ts` does, and waits until it is at work; only what a test kills needs a process of its own. */
export const runWorker = async (databaseUrl: string, settings: Record<string, string> = {}) => {
  const output = { log: "" }
  const log = (line: string) => {
    output.log += `${line}\n`
  }
  const surroundings = Layer.mergeAll(
    // What is in flight when a test ends is not waited for.
    ConfigProvider.layer(
      ConfigProvider.fromEnv({ env: settingsFor(databaseUrl, { DRAIN_SECONDS: "0", ...settings }) }),
    ),
    Layer.succeed(Console.Console, { ...globalThis.console, log } as Console.Console),
    // Counters of its own, as a process has.
    Layer.sync(Metric.MetricRegistry, () => new Map()),
  )
  const fiber = Effect.runFork(
    worker.pipe(Effect.provide(Layer.provideMerge(telemetry("outreach-worker"), surroundings))),
  )
  const stop = () => Effect.runPromise(Fiber.interrupt(fiber))
  onTestFinished(async () => {
    await stop()
    // A missing right of the worker's role fails a job, which the worker would try again for ever.
    expect(output.log).not.toMatch(/\b42501\b/)
  })
  await eventually(
    () => output.log.includes("worker started") || fiber.pollUnsafe() !== undefined,
    (over) => over,
  )
  return { output, stop }
}
