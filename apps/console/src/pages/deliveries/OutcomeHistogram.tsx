import type { OutcomesAt } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { FINE_OUTCOMES_DAYS } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { attemptsOf, OutcomesChart } from "../../components/charts/OutcomesChart.tsx"
import { formatCount, formatShare } from "../../components/format.ts"

const STEPS_SECONDS = [300, 900, 3600, 4 * 3600, 86_400] as const
/** The most steps that are told apart on a screen. */
const MAX_STEPS = 150

/** Returns the step of a histogram of a range in seconds, as fine as outcomes are kept. */
export const stepOf = (from: Timestamp, to: Timestamp, now: number): number => {
  const seconds = (toUnixMillis(to) - toUnixMillis(from)) / 1000
  const isFine = toUnixMillis(from) > now - FINE_OUTCOMES_DAYS * 86_400_000
  return STEPS_SECONDS.find((step) => seconds / step <= MAX_STEPS && (isFine || step >= 3600)) ?? STEPS_SECONDS.at(-1)!
}

/** Attempts over time by their outcome, with how many arrived and how many deliveries died. */
export const OutcomeHistogram = (props: {
  readonly outcomes: ReadonlyArray<OutcomesAt>
  readonly stepSeconds: number
  readonly from: Timestamp
  readonly to: Timestamp
  /** The address that a brushed range is added to. */
  readonly brush: string
  /** The list of the dead letters of the range. */
  readonly deadLetters: string
}) => {
  const sum = (count: (outcomes: OutcomesAt) => number) =>
    props.outcomes.reduce((total, each) => total + count(each), 0)
  const attempts = sum(attemptsOf)
  const delivered = sum((each) => each.delivered)
  return (
    <>
      <p>
        {attempts === 0 ? (
          "No attempt was made in this time."
        ) : (
          <>
            {formatShare(delivered / attempts)} of {formatCount(attempts)} attempts arrived.{" "}
            <a href={props.deadLetters}>{formatCount(sum((each) => each.deadLetters))} became dead letters.</a>
          </>
        )}
      </p>
      <OutcomesChart
        title="Attempts by outcome"
        steps={props.outcomes}
        stepSeconds={props.stepSeconds}
        from={toUnixMillis(props.from)}
        to={toUnixMillis(props.to)}
        brush={props.brush}
        empty="The outcomes of calls to partners would stand here, from the first attempt on."
      />
    </>
  )
}
