import { DescribedError } from "@outreach/domain/DescribedError"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import type { DeliveryState, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { maxAttemptsOf } from "@outreach/domain/deliveries/deliverySchedule"
import { describeOutcome } from "@outreach/domain/deliveries/describeCause"
import { DeliveryId } from "@outreach/domain/Identifier"
import { webhookRetryDelays } from "@outreach/process/settings"
import { deliveryFilters, MAX_SCAN } from "../deliveries/DeliveryFilter.ts"
import { DeliveryReader, describeEmptyResponse } from "../deliveries/DeliveryReader.ts"
import { checkBox } from "./Field.ts"
import { badge, count, InvalidAfter, id, inOps, list, millis, type Tones, text, time } from "./List.ts"
import { operation, rowsPart } from "./Operation.ts"

export const DELIVERY_TONES: Tones<DeliveryState> = {
  pending: "warning",
  delivered: "good",
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
  ...inOps("lastStatus"),
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
  empty: "No deliveries. They are created while a campaign is sent.",
  filledBy: "campaigns schedule",
})

const EVENT_DROPPED =
  "Its event is no longer stored (EVENTS_MONTHS), so its type is not known and it cannot be sent again."

export const showDelivery = operation("deliveries show", {
  access: "reveals",
  about: "Show a delivery, which may be a dead letter, with its attempts",
  of: { deliveryId: DeliveryId },
  input: { reveal: checkBox("Show the body that is sent, too, with its personal data") },
  *run({ deliveryId, reveal = false }) {
    const { delivery, attempts, retryDelays, request } = yield* (yield* DeliveryReader).findSigned(deliveryId)
    const maxAttempts = maxAttemptsOf(delivery, retryDelays ?? (yield* webhookRetryDelays).delays)
    return { delivery: { ...delivery, maxAttempts }, attempts, request: reveal ? request : undefined }
  },
  show: ({ delivery, attempts, request }) => [
    { fields: delivery },
    ...(delivery.eventType === null ? [EVENT_DROPPED] : []),
    rowsPart(
      attempts.map((attempt) => ({ ...attempt, response: attempt.response || describeEmptyResponse(attempt) })),
      ["number", "startedAt", "latencyMs", "status", "outcome", "signedWith", "response"],
      "Attempts",
    ),
    ...(request ? [`POST ${request.url}\n\n${request.body ?? EVENT_DROPPED}`] : []),
  ],
})

/** The delivery has no row that waits for its next attempt. */
class NothingToRetry extends DescribedError(
  "NothingToRetry",
  "The delivery {deliveryId} has no pending retry: it is {state}. Replay a dead letter instead. Events without an attempt are sent in the order of the log.",
) {}

export const retryDelivery = operation("deliveries retry", {
  role: "operator",
  forPartners: true,
  about: "Make the next attempt of a pending delivery now",
  label: "Retry now",
  of: { deliveryId: DeliveryId },
  *run({ deliveryId }) {
    if (yield* (yield* DeliveryRepository).retryNow(deliveryId)) return { delivery: deliveryId }
    const { delivery } = yield* (yield* DeliveryReader).find(deliveryId)
    return yield* new NothingToRetry({ deliveryId, state: delivery.state })
  },
  done: () => "Scheduled now. A worker makes the attempt within a second unless the endpoint's breaker is open.",
})
