import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import type { EndpointId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { HOUR_MS } from "../../components/charts/Histogram.tsx"
import { attemptsOf, OutcomesChart } from "../../components/charts/OutcomesChart.tsx"
import { formatCount, formatMillis, formatShare } from "../../components/format.ts"
import { Facts } from "../../components/lists.tsx"

const HOURS = 24
const STEP_SECONDS = 900

/** Reads how an endpoint answered: the share of calls that it took, its latencies, and the outcomes over time. */
export const readOutcomes = Effect.fnUntraced(function* (endpointId: EndpointId, now: number) {
  const outcomes = yield* DeliveryOutcomeReader
  const stepMs = STEP_SECONDS * 1000
  const range = { endpointId, from: fromUnixMillis(now - HOURS * HOUR_MS), to: fromUnixMillis(now + stepMs) }
  const summary = yield* outcomes.summary(range)
  const steps = yield* outcomes.histogram(range, STEP_SECONDS)
  const { delivered, deadLetters, p50Ms, p99Ms } = summary
  const calls = attemptsOf(summary)
  const to = Math.ceil(now / stepMs) * stepMs
  return (
    <section>
      <h2>Calls, last {HOURS} hours</h2>
      <Facts
        facts={{
          "Success rate": calls === 0 ? "no calls" : `${formatShare(delivered / calls)} of ${formatCount(calls)} calls`,
          "Half of the calls within": p50Ms === null ? "–" : `${formatMillis(p50Ms)} (p50)`,
          "99 of 100 calls within": p99Ms === null ? "–" : `${formatMillis(p99Ms)} (p99)`,
          Failed: <a href={`/deliveries?endpoint=${endpointId}`}>{formatCount(calls - delivered)}</a>,
          "Became dead letters": <a href={`/issues?endpoint=${endpointId}`}>{formatCount(deadLetters)}</a>,
        }}
      />
      <OutcomesChart
        title="Outcomes of calls"
        steps={steps}
        stepSeconds={STEP_SECONDS}
        from={to - HOURS * HOUR_MS}
        to={to}
        empty="The endpoint was not called."
      />
    </section>
  )
})
