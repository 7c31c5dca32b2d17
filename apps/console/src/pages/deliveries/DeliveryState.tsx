import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { StatusBadge, type Tone } from "../../components/values.tsx"

const TONES: Readonly<Record<DeliverySummary["state"], Tone>> = {
  pending: "warning",
  sending: "neutral",
  delivered: "good",
  rejected: "bad",
  exhausted: "bad",
  poison: "bad",
}

export const DeliveryState = ({ state, replayedAs }: Pick<DeliverySummary, "state" | "replayedAs">) => (
  <>
    <StatusBadge tone={replayedAs === null ? TONES[state] : "neutral"}>{state}</StatusBadge>
    {replayedAs !== null && " replayed"}
  </>
)

/** How an attempt ended: its status, or why there is none. */
export const AttemptOutcome = (props: { readonly status: number | null; readonly outcome: string }) => (
  <StatusBadge tone={props.outcome === "success" ? "good" : "bad"}>
    {props.status === null ? props.outcome.replaceAll("_", " ") : String(props.status)}
  </StatusBadge>
)
