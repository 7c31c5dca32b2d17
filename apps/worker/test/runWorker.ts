import { telemetry } from "@outreach/process/telemetry"
import { ProcessLog } from "@outreach/testing/ProcessLog"
import type { AtEnd } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { Effect, Fiber, Layer } from "effect"
import { expect, onTestFinished } from "vitest"
import { worker } from "../src/worker.ts"
import { settingsFor } from "./startWorker.ts"

/** Runs the worker in this process as `main.ts` does, and waits until it has started or failed. Only a worker that a test kills needs a separate process. */
export const runWorker = async (
  databaseUrl: string,
  settings: Record<string, string> = {},
  atEnd: AtEnd = onTestFinished,
) => {
  const log = new ProcessLog()
  // The end of a test doesn't wait for work in flight.
  const surroundings = log.surroundings(settingsFor(databaseUrl, { DRAIN_SECONDS: "0", ...settings }))
  const fiber = Effect.runFork(
    worker.pipe(Effect.provide(Layer.provideMerge(telemetry("outreach-worker"), surroundings))),
  )
  fiber.addObserver(() => log.end("the worker ended"))
  const stop = () => Effect.runPromise(Fiber.interrupt(fiber))
  atEnd(async () => {
    await stop()
    // If the worker's role lacks a right, a job fails and is retried forever.
    expect(log.text).not.toMatch(/(?<!"port":)\b42501\b/)
  })
  await until(log, ({ lines }) => log.over() !== undefined || lines.some(({ message }) => message === "worker started"))
  return Object.assign(log, { stop, ended: Effect.runPromise(Fiber.await(fiber)) })
}
