import type { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { describeEmptyResponse } from "@outreach/backoffice/deliveries/describeEmptyResponse"
import type { Attempt } from "@outreach/domain/deliveries/Delivery"
import type { Effect } from "effect"
import { formatRecord, formatRows } from "../output/Output.ts"

export const EVENT_DROPPED =
  "\n\nIts event is no longer stored (EVENTS_MONTHS), so its type is not known and it cannot be sent again."

const withResponse = <A extends Attempt>(attempt: A): A => ({
  ...attempt,
  response: attempt.response || describeEmptyResponse(attempt),
})

export const formatDelivery = ({
  delivery,
  attempts,
}: Pick<Effect.Success<ReturnType<DeliveryReader["Service"]["findSigned"]>>, "delivery" | "attempts">): string =>
  `${formatRecord(delivery)}${delivery.eventType === null ? EVENT_DROPPED : ""}\n\nAttempts\n${formatRows(attempts.map(withResponse), ["number", "startedAt", "latencyMs", "status", "outcome", "signedWith", "response"])}`
