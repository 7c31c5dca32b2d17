import { DELIVERY_STATES, type DeliveryState, UNKNOWN_OUTCOME } from "@outreach/domain/deliveries/Delivery"
import { DELIVERY_REASONS } from "@outreach/domain/deliveries/settleAttempt"
import { DeliveryId, EventId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect } from "effect"
import { DeliveryReader, MAX_SCAN } from "../deliveries/DeliveryReader.ts"
import { formatCount } from "../format.ts"
import {
  campaignFilter,
  checkBox,
  choice,
  endpointFilter,
  field,
  httpStatus,
  organizationFilter,
  outboundType,
  timeRange,
} from "../operations/Field.ts"
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

export const deliveryFilters = {
  organizationId: organizationFilter,
  endpointId: endpointFilter,
  state: choice("State", [...DELIVERY_STATES, "dead"], { all: "All", hint: "Or dead letters of every reason" }),
  status: httpStatus,
  outcome: choice("Outcome", [...DELIVERY_REASONS, UNKNOWN_OUTCOME], { all: "All", hint: "Of the last attempt" }),
  slowerThan: field(Seconds, "Slower than", { placeholder: "2s", size: 5, hint: "The last attempt", example: "2s" }),
  slowest: checkBox("Slowest first", { hint: `Among the newest ${formatCount(MAX_SCAN)}` }),
  eventId: field(EventId, "Event", { placeholder: "evt_…" }),
  type: outboundType,
  campaignId: campaignFilter,
  ...timeRange("Created from", "Created before"),
}

export const deliveryColumns = {
  id: id("Delivery"),
  endpointId: id("Endpoint"),
  eventType: { ...text("Event"), none: "deleted" },
  state: badge("State", DELIVERY_TONES),
  attempts: count("Attempts"),
  lastStatus: inOps,
  lastOutcome: text("Last attempt"),
  lastLatencyMs: millis("Latency"),
  dueAt: time("Next attempt"),
  createdAt: time("Created"),
}

export const deliveries = list("deliveries list", {
  forPartners: true,
  about: "List deliveries with the outcome and the latency of the last attempt, newest first",
  filters: deliveryFilters,
  cursor: { id: DeliveryId },
  read: (filter, { limit, after }) =>
    Effect.gen(function* () {
      const { list } = yield* DeliveryReader
      if (!filter.slowest) return yield* list(filter, limit, after?.id)
      if (after !== null) return yield* new InvalidAfter()
      const { rows } = yield* list(filter, MAX_SCAN)
      return rows.toSorted((a, b) => (b.lastLatencyMs ?? -1) - (a.lastLatencyMs ?? -1)).slice(0, limit)
    }),
  columns: {
    ...deliveryColumns,
    state: { ...deliveryColumns.state, note: ({ replayedAs }) => (replayedAs === null ? "" : "replayed") },
  },
  empty: "No delivery matches.",
})
