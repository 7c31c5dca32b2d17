import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { formatCount, formatMillis, formatShare } from "@outreach/backoffice/format"
import { DELIVERY_TONES, deliveries } from "@outreach/backoffice/operations/deliveries"
import type { Attempt, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { explainFailure } from "@outreach/domain/deliveries/describeCause"
import { fromUnixMillis, toUnixMillis } from "@outreach/domain/Timestamp"
import { FINE_OUTCOMES_DAYS } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { Effect } from "effect"
import { DAY_MS, Histogram } from "../../components/Histogram.tsx"
import { Facts, Section, withQuery } from "../../components/layout.tsx"
import { foreign, StatusBadge } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"
import { pickDefined } from "../../view/inputs.ts"

const STEPS_SECONDS = [300, 900, 3600, 4 * 3600, 86_400] as const
/** Maximum number of steps on a screen. */
const MAX_STEPS = 150

/** Returns the step of a histogram for a range in milliseconds, limited by the resolution of stored outcomes. */
const stepOf = (from: number, to: number, now: number): number => {
  const seconds = (to - from) / 1000
  const isFine = from > now - FINE_OUTCOMES_DAYS * DAY_MS
  return STEPS_SECONDS.find((step) => seconds / step <= MAX_STEPS && (isFine || step >= 3600)) ?? STEPS_SECONDS.at(-1)!
}

/** Reads the success rate, the latencies and the outcomes of calls over time, by default of the day until now. */
export const readCalls = Effect.fnUntraced(function* (filter: Parameters<typeof deliveries.read>[0], now: number) {
  const { organizationId, endpointId } = filter
  const to = filter.to === undefined ? now : toUnixMillis(filter.to)
  const from = filter.from === undefined ? to - DAY_MS : toUnixMillis(filter.from)
  const stepSeconds = stepOf(from, to, now)
  const range = {
    ...pickDefined({ organizationId, endpointId }),
    from: fromUnixMillis(from),
    // The outcomes of the current minutes are stored at their end.
    to: filter.to ?? fromUnixMillis(now + stepSeconds * 1000),
  }
  const { summary, histogram } = yield* DeliveryOutcomeReader
  const [total, steps] = yield* Effect.all([summary(range), histogram(range, stepSeconds)], {
    concurrency: "unbounded",
  })
  const { calls, delivered, deadLetters, p50Ms, p99Ms } = total
  const scope = { organization: organizationId, endpoint: endpointId }
  return (
    <Section title={filter.from === undefined && filter.to === undefined ? "Calls, last 24 hours" : "Calls"}>
      <Facts
        facts={{
          "Success rate": calls === 0 ? "no calls" : `${formatShare(delivered / calls)} of ${formatCount(calls)} calls`,
          "Median latency": p50Ms === null ? "–" : `${formatMillis(p50Ms)} (p50)`,
          "p99 latency": p99Ms === null ? "–" : `${formatMillis(p99Ms)} (p99)`,
          Failed: { to: withQuery("/issues", scope), name: calls - delivered },
          "Dead letters": { to: withQuery("/dead-letters", scope), name: deadLetters },
        }}
      />
      <Histogram
        title="Calls by outcome"
        series={{
          delivered: ["good", ({ delivered }) => delivered],
          "4xx": ["warning", ({ clientErrors }) => clientErrors],
          "5xx": ["bad", ({ serverErrors }) => serverErrors],
          "other status": ["neutral", ({ otherStatuses }) => otherStatuses],
          "no response": ["accent", ({ noResponses }) => noResponses],
        }}
        rows={steps}
        at={({ at }) => at}
        stepMs={stepSeconds * 1000}
        from={from}
        to={toUnixMillis(range.to)}
        empty="No calls."
      />
    </Section>
  )
})

export const deliveriesRoutes = listPage("/deliveries", deliveries, {
  around: ({ filter, context: { now } }) =>
    // An event's page lists its deliveries.
    Effect.map(readCalls(filter, now), (above) => ({ above, controls: { event: false } })),
})

/** The reason of a failed call as a sentence, with the first line of its response. */
export const FailureSentence = ({
  firstLine,
  ...failure
}: Pick<Attempt, "status" | "outcome"> & { readonly firstLine: string | null }) => (
  <>
    {explainFailure(failure)}
    {firstLine !== null && foreign`: ${firstLine}`}.
  </>
)

export const DeliveryState = ({ state, replayedAs }: Pick<DeliverySummary, "state" | "replayedAs">) => (
  <>
    <StatusBadge tone={replayedAs === null ? DELIVERY_TONES[state] : "neutral"}>{state}</StatusBadge>
    {replayedAs !== null && " replayed"}
  </>
)
