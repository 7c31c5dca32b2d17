import type { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import type { Effect } from "effect"
import { formatRecord, formatRows } from "../output/Output.ts"

export const EVENT_DROPPED =
  "\n\nIts event is no longer stored (EVENTS_MONTHS), so its type is not known and it cannot be sent again."

export const formatDelivery = ({
  delivery,
  attempts,
}: Pick<Effect.Success<ReturnType<DeliveryReader["Service"]["findSigned"]>>, "delivery" | "attempts">): string =>
  `${formatRecord(delivery)}${delivery.eventType === null ? EVENT_DROPPED : ""}\n\nAttempts\n${formatRows(attempts, ["number", "startedAt", "latencyMs", "status", "outcome", "signedWith", "response"])}`
