import type { Attempt, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { formatRecord, formatRows, print } from "../output/Output.ts"

export const EVENT_DROPPED =
  "\n\nIts event is no longer stored (EVENTS_MONTHS), so its type is not known and it cannot be sent again."

/** Prints a delivery with its attempts. */
export const printDelivery = (found: {
  readonly delivery: DeliverySummary
  readonly attempts: ReadonlyArray<Attempt>
}) =>
  print(
    found,
    () =>
      `${formatRecord(found.delivery)}${found.delivery.eventType === null ? EVENT_DROPPED : ""}\n\nAttempts\n${formatRows(found.attempts, ["number", "startedAt", "latencyMs", "status", "outcome", "response"])}`,
  )
