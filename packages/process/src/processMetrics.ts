import { readdirSync, readFileSync } from "node:fs"
import {
  constants,
  monitorEventLoopDelay,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from "node:perf_hooks"
import { Effect, Metric } from "effect"
import { BUILD } from "./release.ts"

const buildInfo = Metric.gauge("outreach_build_info", {
  description: "Always 1. The labels name the release that runs, its commit, and the Node that runs it.",
  attributes: { version: BUILD.version, commit: BUILD.commit, node: process.versions.node },
})

/** Interval of the measurements of the event loop, which each measured delay includes. Every 10 ms, they cost 0.7 % of a core. */
const EVENT_LOOP_EVERY_MS = 100

/** Starts the process metrics (`process_*` and `nodejs_*`), including the release. Returns an effect that exports them as Prometheus text. */
export const measureProcess: Effect.Effect<Effect.Effect<string>> = Effect.gen(function* () {
  const lag = monitorEventLoopDelay({ resolution: EVENT_LOOP_EVERY_MS })
  lag.enable()
  // A rate ignores the first value of a series, so each kind starts at zero.
  const collections = [
    { kind: "major", code: constants.NODE_PERFORMANCE_GC_MAJOR, count: 0, seconds: 0 },
    { kind: "minor", code: constants.NODE_PERFORMANCE_GC_MINOR, count: 0, seconds: 0 },
    { kind: "incremental", code: constants.NODE_PERFORMANCE_GC_INCREMENTAL, count: 0, seconds: 0 },
    { kind: "weakcb", code: constants.NODE_PERFORMANCE_GC_WEAKCB, count: 0, seconds: 0 },
  ]
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail } = entry as PerformanceEntry & { readonly detail?: NodeGCPerformanceDetail }
      const collection = collections.find(({ code }) => code === detail?.kind)
      if (collection === undefined) continue
      collection.count += 1
      collection.seconds += entry.duration / 1000
    }
  }).observe({ entryTypes: ["gc"] })
  yield* Metric.update(buildInfo, 1)

  return Effect.sync(() => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
    const text = [
      metric("process_cpu_seconds_total", "counter", "CPU time of the process.", (user + system) / 1e6),
      metric("process_start_time_seconds", "gauge", "Unix time of the start.", performance.timeOrigin / 1000),
      metric("process_resident_memory_bytes", "gauge", "Memory of the process.", rss),
      metric("nodejs_heap_size_used_bytes", "gauge", "Used part of V8's heap.", heapUsed),
      metric("nodejs_heap_size_total_bytes", "gauge", "V8's heap.", heapTotal),
      metric("nodejs_external_memory_bytes", "gauge", "Memory of buffers and native objects.", external),
      ...[50, 99].map((percent) =>
        metric(
          `nodejs_eventloop_lag_p${percent}_seconds`,
          "gauge",
          `Percentile of the event loop's delays since the last request, including ${EVENT_LOOP_EVERY_MS} ms between measurements.`,
          lag.count === 0 ? 0 : lag.percentile(percent) / 1e9,
        ),
      ),
      metric(
        "nodejs_gc_duration_seconds",
        "summary",
        "Garbage collections.",
        ...collections.flatMap(({ kind, count, seconds }) => [
          [`_sum{kind="${kind}"}`, seconds] as const,
          [`_count{kind="${kind}"}`, count] as const,
        ]),
      ),
      ...openFiles(),
    ]
    lag.reset()
    return text.join("")
  })
})

/** Writes a metric with one value, or with values by suffix and labels. */
const metric = (
  name: string,
  type: "counter" | "gauge" | "summary",
  help: string,
  ...values: ReadonlyArray<number | readonly [suffix: string, value: number]>
): string =>
  [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map((value) => (typeof value === "number" ? `${name} ${value}` : `${name}${value[0]} ${value[1]}`)),
    "",
  ].join("\n")

/** Writes the number of open files and its maximum; empty without Linux's `/proc`. */
const openFiles = (): ReadonlyArray<string> => {
  try {
    const [, maximum] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return [
      metric("process_open_fds", "gauge", "Open files and connections.", readdirSync("/proc/self/fd").length),
      metric("process_max_fds", "gauge", "Maximum of open files and connections.", Number(maximum)),
    ]
  } catch {
    return []
  }
}
