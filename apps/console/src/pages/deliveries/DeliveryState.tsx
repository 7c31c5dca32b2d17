import { DELIVERY_TONES } from "@outreach/backoffice/lists/deliveries"
import type { Attempt, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { explainFailure } from "@outreach/domain/deliveries/describeCause"
import { foreign, StatusBadge } from "../../components/values.tsx"

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
