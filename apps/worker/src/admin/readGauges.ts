import { COUNT_CAP } from "@outreach/domain/countCaps"
import { FACTS, type Fact, type FactName, type FactValues, READINGS } from "@outreach/domain/operators/facts"
import { FactReader, readFacts } from "@outreach/postgres/operators/FactReader"
import { Clock, Duration, Effect, Metric, Struct } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { metrics } from "../metrics.ts"

const EVERY_MS = 10_000
const WITHIN_MS = 2000
/** Maximum share of time spent on readings: the pause is at least twenty times the reading's duration. */
const SHARE = 0.05

/**
 * Reads the facts of the database repeatedly until interrupted, so that metrics requests don't wait for the database. Every worker
 * reports the same values, those of all workers: use the maximum, not the sum.
 *
 * Slow readings are made less often. There are two, because a problem that slows one down is reported by the other.
 */
export const readGauges = Effect.suspend(() =>
  Effect.all(
    [
      keepReading(
        "due",
        FactReader.use(({ readDue }) => readDue),
      ),
      keepReading("state", readFacts(READINGS.state)),
    ],
    { concurrency: "unbounded", discard: true },
  ),
)

const keepReading = <R>(reading: keyof typeof READINGS, read: Effect.Effect<Partial<FactValues>, never, R>) =>
  retryForever(
    `gauges: ${reading}`,
    Effect.gen(function* () {
      const [took] = yield* Effect.timed(Effect.flatMap(read, updateGauges)).pipe(
        Effect.timeout(WITHIN_MS),
        Effect.onError(() => Metric.update(metrics.readingUp[reading], 0)),
      )
      yield* Metric.update(metrics.readAt[reading], (yield* Clock.currentTimeMillis) / 1000)
      yield* Metric.update(metrics.readingUp[reading], 1)
      yield* Effect.sleep(Math.max(EVERY_MS, Duration.toMillis(took) / SHARE))
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
