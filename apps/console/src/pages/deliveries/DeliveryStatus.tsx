import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { IdLink, Time } from "../../components/values.tsx"
import { FailureSentence } from "./Outcome.tsx"

/** States whether a webhook arrived, or the reason why not. */
export const DeliveryStatus = (props: {
  readonly delivery: DeliverySummary
  readonly endpoint: EndpointStatus
  /** The first line of the response to the last failed attempt. */
  readonly line: string | null
}) => {
  const { state, dueAt, finishedAt, replayedAs, lastOutcome: outcome, lastStatus: status } = props.delivery
  const cause = outcome === null ? null : <FailureSentence status={status} outcome={outcome} firstLine={props.line} />
  if (state === "delivered") {
    return (
      <p>
        Delivered <Time at={finishedAt} />: the partner returned {status}.
      </p>
    )
  }
  if (replayedAs !== null) {
    return (
      <p>
        Not delivered. {cause} It was replayed as <IdLink id={replayedAs} />; see that delivery for the result.
      </p>
    )
  }
  if (state === "cancelled") return <p class="problem">Cancelled because its endpoint was removed.</p>
  if (state === "sending") return <p>A worker is calling the endpoint.</p>
  if (state === "pending") {
    const { word, tone, sentence } = endpointState(props.endpoint)
    return (
      <p class="problem">
        Not delivered yet. {cause}{" "}
        {tone !== "good" && (
          <>
            The <IdLink id={props.endpoint.id}>endpoint</IdLink> is {word.toLowerCase()}: {sentence}{" "}
          </>
        )}
        {props.endpoint.enabled && (
          <>
            {props.endpoint.owner === null && "No worker serves the endpoint now. "}The next attempt is due{" "}
            <Time at={dueAt} isShort />.
          </>
        )}
      </p>
    )
  }
  return (
    <p class="problem">
      Not delivered, without further retries. {cause} {ENDINGS[state]}{" "}
      {props.endpoint.removedAt === null
        ? "Fix the cause, then replay it."
        : "Its endpoint was removed, so it can’t be replayed."}
    </p>
  )
}

const ENDINGS = {
  rejected: "This response isn't retried.",
  exhausted: "All scheduled attempts failed.",
  poison: "Workers crashed repeatedly while sending it.",
} as const
