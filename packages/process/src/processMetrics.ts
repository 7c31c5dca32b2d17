import { Effect, Metric } from "effect"
import { collectDefaultMetrics, Histogram, Registry } from "prom-client"
import { BUILD } from "./release.ts"

const buildInfo = Metric.gauge("outreach_build_info", {
  description: "Always 1. The labels name the release that runs, its commit, and the Node that runs it.",
  attributes: { version: BUILD.version, commit: BUILD.commit, node: process.versions.node },
})

/** Interval of the measurements of the event loop, which each measured delay includes. With the default of 10 ms, they cost 0.7 % of a core. */
const EVENT_LOOP_EVERY_MS = 100

/** Kinds of garbage collection in prom-client. */
const KINDS = ["major", "minor", "incremental", "weakcb"] as const

/** Starts the process metrics (`process_*` and `nodejs_*`), including the release. Returns an effect that exports them as Prometheus text. */
export const measureProcess: Effect.Effect<Effect.Effect<string>> = Effect.gen(function* () {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_EVERY_MS })
  const collections = registry.getSingleMetric("nodejs_gc_duration_seconds")
  // A rate ignores the first value of a series, so each kind starts at zero.
  if (collections instanceof Histogram) for (const kind of KINDS) collections.zero({ kind })
  yield* Metric.update(buildInfo, 1)
  return Effect.promise(() => registry.metrics())
})
