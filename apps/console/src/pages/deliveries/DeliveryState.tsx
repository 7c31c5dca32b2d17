import { DELIVERY_TONES } from "@outreach/backoffice/lists/deliveries"
import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { StatusBadge } from "../../components/values.tsx"

export const DeliveryState = ({ state, replayedAs }: Pick<DeliverySummary, "state" | "replayedAs">) => (
  <>
    <StatusBadge tone={replayedAs === null ? DELIVERY_TONES[state] : "neutral"}>{state}</StatusBadge>
    {replayedAs !== null && " replayed"}
  </>
)
