import type { DeliveryState, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { describeOutcome } from "@outreach/domain/deliveries/describeCause"
import { DeliveryId } from "@outreach/domain/Identifier"
import { deliveryFilters, MAX_SCAN } from "../deliveries/DeliveryFilter.ts"
import { DeliveryReader } from "../deliveries/DeliveryReader.ts"
import { badge, count, InvalidAfter, id, inOps, list, millis, type Tone, text, time } from "./List.ts"

export const DELIVERY_TONES: Readonly<Record<DeliveryState, Tone>> = {
  pending: "warning",
  sending: "neutral",
  delivered: "good",
  cancelled: "neutral",
  rejected: "bad",
  exhausted: "bad",
  poison: "bad",
}

/** Returns the status of a delivery's last attempt, or the reason for a missing one. */
export const describeLastAttempt = ({ lastStatus: status, lastOutcome: outcome }: DeliverySummary): string | null =>
  outcome && describeOutcome({ status, outcome })

export const deliveryColumns = {
  id: id("Delivery"),
  endpointId: id("Endpoint"),
  eventType: { ...text("Event"), none: "deleted" },
  state: badge("State", DELIVERY_TONES),
  attempts: count("Attempts"),
  lastStatus: inOps,
  lastOutcome: badge("Last attempt"),
  lastLatencyMs: millis("Latency"),
  dueAt: time("Next attempt"),
  createdAt: time("Created"),
}

export const deliveries = list("deliveries list", {
  forPartners: true,
  about: "List deliveries with the outcome and the latency of the last attempt, newest first",
  filters: deliveryFilters,
  cursor: { id: DeliveryId },
  *read(filter, { limit, after }) {
    const { list } = yield* DeliveryReader
    if (!filter.slowest) return yield* list(filter, limit, after?.id)
    if (after !== null) return yield* new InvalidAfter()
    const { rows } = yield* list(filter, MAX_SCAN)
    return rows.toSorted((a, b) => (b.lastLatencyMs ?? -1) - (a.lastLatencyMs ?? -1)).slice(0, limit)
  },
  columns: {
    ...deliveryColumns,
    lastOutcome: {
      ...deliveryColumns.lastOutcome,
      shown: (delivery) => describeLastAttempt(delivery),
      tone: ({ lastOutcome }) => (lastOutcome === "success" ? "good" : "bad"),
    },
    state: { ...deliveryColumns.state, note: ({ replayedAs }) => (replayedAs === null ? "" : "replayed") },
  },
  empty: "No delivery matches.",
})
