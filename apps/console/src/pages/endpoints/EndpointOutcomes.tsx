import type { EndpointId } from "@outreach/domain/Identifier"
import type { OutcomeSummary, OutcomesAt } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { attemptsOf, OutcomesChart } from "../../components/charts/OutcomesChart.tsx"
import { formatCount, formatMillis, formatShare } from "../../components/format.ts"
import { Facts } from "../../components/Table.tsx"

/** For how many hours the outcomes are shown. */
export const OUTCOME_HOURS = 24
/** The length of a step of the chart. */
export const OUTCOME_STEP_SECONDS = 900

/** How an endpoint answered: the share of calls that it took, its latencies, and the outcomes over time. */
export const EndpointOutcomes = (props: {
  readonly endpointId: EndpointId
  readonly summary: OutcomeSummary
  readonly steps: ReadonlyArray<OutcomesAt>
  /** The present, in Unix milliseconds. */
  readonly now: number
}) => {
  const { summary, endpointId } = props
  const { delivered, deadLetters, p50Ms, p99Ms } = summary
  const calls = attemptsOf(summary)
  const stepMs = OUTCOME_STEP_SECONDS * 1000
  const to = Math.ceil(props.now / stepMs) * stepMs
  return (
    <section>
      <h2>Calls, last {OUTCOME_HOURS} hours</h2>
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
        steps={props.steps}
        stepSeconds={OUTCOME_STEP_SECONDS}
        from={to - OUTCOME_HOURS * 3_600_000}
        to={to}
        empty="The endpoint was not called."
      />
    </section>
  )
}
