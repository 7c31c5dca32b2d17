import { COUNT_CAP } from "@outreach/domain/countCaps"
import { FACTS, type Fact, type FactName, type FactValues, READINGS } from "@outreach/domain/operators/facts"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { FactReader, readFacts } from "@outreach/postgres/operators/FactReader"
import { adminServer } from "@outreach/process/adminServer"
import { Clock, Duration, Effect, Metric, Struct } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { metrics } from "../metrics.ts"

/** Maximum age of the last successful claim of a ready worker: two claim intervals and a statement timeout. */
const READY_WITHIN_SECONDS = 3 + 30
const READ_EVERY_MS = 10_000
const READ_WITHIN_MS = 2000
/** Maximum share of time spent on readings: the pause is at least twenty times the reading's duration. */
const READ_SHARE = 0.05

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

/**
 * Reads the facts of the database repeatedly until interrupted, so that metrics requests don't wait for the database. Every worker
 * reports the same values, those of all workers: use the maximum, not the sum.
 *
 * Slow readings are made less often. There are two, because a problem that slows one down is reported by the other.
 */
export const readGauges = Effect.gen(function* () {
  const { readDue } = yield* FactReader
  return yield* Effect.raceFirst(keepReading("due", readDue), keepReading("state", readFacts(READINGS.state)))
})

const keepReading = <R>(reading: keyof typeof READINGS, read: Effect.Effect<Partial<FactValues>, never, R>) =>
  retryForever(
    `gauges: ${reading}`,
    Effect.gen(function* () {
      const [took] = yield* Effect.timed(Effect.flatMap(read, updateGauges)).pipe(
        Effect.timeout(READ_WITHIN_MS),
        Effect.onError(() => Metric.update(metrics.readingUp[reading], 0)),
      )
      yield* Metric.update(metrics.readAt[reading], (yield* Clock.currentTimeMillis) / 1000)
      yield* Metric.update(metrics.readingUp[reading], 1)
      yield* Effect.sleep(Math.max(READ_EVERY_MS, Duration.toMillis(took) / READ_SHARE))
    }),
  )

const updateGauges = (facts: Partial<FactValues>) =>
  Effect.forEach(Struct.keys(facts), (name) => updateGauge(name, facts[name]!), { discard: true })

const updateGauge = (name: FactName, value: number | Readonly<Record<string, number>>) => {
  const { about, gauge, by = {}, isCapped = false } = FACTS[name] as Fact
  if (gauge === undefined) return Effect.void
  const description = `${about}${isCapped ? `, counted up to ${COUNT_CAP}` : ""}.`
  const update = (value: number, attributes = {}) =>
    Metric.update(Metric.gauge(`outreach_${gauge}`, { description, attributes }), value)
  if (typeof value === "number") return update(value)
  const [label] = Object.keys(by)
  return Effect.forEach(Object.entries(value), ([of, one]) => update(one, { [label!]: of }), { discard: true })
}
