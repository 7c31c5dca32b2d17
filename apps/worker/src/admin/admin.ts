import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { adminServer } from "@outreach/process/adminServer"
import { Clock, Effect, Metric } from "effect"
import { metrics } from "../metrics.ts"

/** Maximum age of the last successful claim of a ready worker: two claim intervals and a statement timeout. */
const READY_WITHIN_SECONDS = 3 + 30

/** Serves the worker's `/metrics`, `/readyz` and `/livez` until interrupted. */
export const admin = (options: { readonly host: string; readonly port: number }) =>
  Effect.flatMap(DatabaseMonitor, (monitor) =>
    adminServer({
      ...options,
      unreadiness: Effect.flatMap(monitor.fault, (fault) =>
        fault === undefined ? claimsFault : Effect.succeed(`${fault.advice} (${fault.code})`),
      ),
    }),
  )

/** Returns the fault of the claims; undefined if there is none. */
const claimsFault = Effect.gen(function* () {
  // A paused worker claims nothing; the database check reports the reason.
  if ((yield* Metric.value(metrics.paused)).value === 1) return undefined
  const now = (yield* Clock.currentTimeMillis) / 1000
  const succeeded = (yield* Metric.value(metrics.lastClaim.succeeded)).value
  const failed = (yield* Metric.value(metrics.lastClaim.failed)).value
  const since =
    succeeded === 0 ? "no claim has succeeded yet" : `no claim has succeeded for ${Math.round(now - succeeded)} s`
  if (failed > succeeded) return `claims fail; ${since}`
  if (succeeded === 0 || now - succeeded > READY_WITHIN_SECONDS) return since
  return undefined
})
