import { Clock, Effect, Metric } from "effect"
import { metrics } from "./metrics.ts"

/** What keeps a worker from being ready; undefined when nothing does. */
export const readiness = Effect.fnUntraced(function* (withinSeconds: number) {
  const now = (yield* Clock.currentTimeMillis) / 1000
  const succeeded = (yield* Metric.value(metrics.lastClaim.succeeded)).value
  const failed = (yield* Metric.value(metrics.lastClaim.failed)).value
  const since =
    succeeded === 0 ? "no claim has succeeded yet" : `no claim has succeeded for ${Math.round(now - succeeded)} s`
  if (failed > succeeded) return `claims fail; ${since}`
  if (succeeded === 0 || now - succeeded > withinSeconds) return since
  return undefined
})
