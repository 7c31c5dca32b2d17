import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { IdLink, Time } from "../../components/values.tsx"
import { endpointState } from "../endpoints/endpointsPage.tsx"
import { FailureSentence } from "./Deliveries.tsx"

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
        It arrived <Time at={finishedAt} />: the partner answered {status}.
      </p>
    )
  }
  if (replayedAs !== null) {
    return (
      <p>
        It did not arrive. {cause} It was sent again as <IdLink id={replayedAs} />, which says whether that arrived.
      </p>
    )
  }
  if (state === "cancelled") return <p class="problem">It never arrives: its endpoint was removed.</p>
  if (state === "sending") return <p>A worker calls the endpoint now.</p>
  if (state === "pending") {
    const { word, tone, sentence } = endpointState(props.endpoint)
    return (
      <p class="problem">
        It has not arrived yet. {cause}{" "}
        {tone !== "good" && (
          <>
            The <IdLink id={props.endpoint.id}>endpoint</IdLink> is {word.toLowerCase()}: {sentence}{" "}
          </>
        )}
        {props.endpoint.enabled && (
          <>
            {props.endpoint.owner === null && "No worker delivers to the endpoint at present. "}The next attempt is due{" "}
            <Time at={dueAt} isShort />.
          </>
        )}
      </p>
    )
  }
  return (
    <p class="problem">
      It did not arrive, and is not tried again. {cause} {ENDINGS[state]}{" "}
      {props.endpoint.removedAt === null
        ? "Mend the cause, and replay it."
        : "Its endpoint was removed, so it can’t be replayed."}
    </p>
  )
}

const ENDINGS = {
  rejected: "Such an answer is final.",
  exhausted: "Every attempt of its schedule failed.",
  poison: "Workers were lost with it again and again.",
} as const
