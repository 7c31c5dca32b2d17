import { Effect, Metric } from "effect"
import { collectDefaultMetrics, Registry } from "prom-client"
import { BUILD } from "./release.ts"

const buildInfo = Metric.gauge("outreach_build_info", {
  description: "Always 1. The labels name the release that runs, its commit, and the Node that runs it.",
  attributes: { version: BUILD.version, commit: BUILD.commit, node: process.versions.node },
})

/** Starts to measure the process (`process_*` and `nodejs_*`) and shows its release. Returns an effect that writes the metrics as Prometheus text. */
export const measureProcess: Effect.Effect<Effect.Effect<string>> = Effect.gen(function* () {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  yield* Metric.update(buildInfo, 1)
  return Effect.promise(() => registry.metrics())
})
