import { Effect, Metric } from "effect"
import { collectDefaultMetrics, Registry } from "prom-client"
import { BUILD } from "./release.ts"

const registry = new Registry()
let isCollecting = false

const buildInfo = Metric.gauge("outreach_build_info", {
  description: "Always 1. The labels name the release that runs, its commit, and the Node that runs it.",
  attributes: { version: BUILD.version, commit: BUILD.commit, node: process.versions.node },
})

/** Begins to measure the process, once however often it is called: `process_*` and `nodejs_*`. Shows which release runs. */
export const measureProcess: Effect.Effect<void> = Effect.suspend(() => {
  if (!isCollecting) collectDefaultMetrics({ register: registry })
  isCollecting = true
  return Metric.update(buildInfo, 1)
})

/** Writes what was measured as Prometheus text. */
export const formatProcessMetrics: Effect.Effect<string> = Effect.promise(() => registry.metrics())
