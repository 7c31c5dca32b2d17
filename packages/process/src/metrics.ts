import { Effect, Metric } from "effect"

type Attributes = Readonly<Record<string, string>>

export const counter = (name: string, description: string, attributes: Attributes = {}): Metric.Counter<number> =>
  Metric.counter(name, { description, incremental: true, attributes })

export const gauge = (name: string, description: string, attributes: Attributes = {}): Metric.Gauge<number> =>
  Metric.gauge(name, { description, attributes })

/** Creates a counter for each value of a label, which it shows in lower case. */
export const counters = byLabel(counter)

/** Creates a gauge for each value of a label, which it shows in lower case. */
export const gauges = byLabel(gauge)

function byLabel<M>(create: (name: string, description: string, attributes: Attributes) => M) {
  return <Value extends string>(
    name: string,
    description: string,
    valuesByLabel: Readonly<Record<string, ReadonlyArray<Value>>>,
  ): Readonly<Record<Value, M>> => {
    const metrics = Object.entries(valuesByLabel).flatMap(([label, values]) =>
      values.map((value) => [value, create(name, description, { [label]: value.toLowerCase() })] as const),
    )
    return Object.fromEntries(metrics) as Record<Value, M>
  }
}

/** Exports metrics before their first event, so that it shows in a rate. */
export const exportFromStart = (
  metrics: Readonly<Record<string, AnyMetric | Readonly<Record<string, AnyMetric>>>>,
): Effect.Effect<void> =>
  Effect.forEach(
    Object.values(metrics).flatMap((metric) => (Metric.isMetric(metric) ? [metric] : Object.values(metric))),
    Metric.value,
    { discard: true },
  )

type AnyMetric = Metric.Metric<never, unknown>
