import type { DeadLetterFilter } from "@outreach/domain/deliveries/DeadLetters"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { findPresentEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { DeliveryId, FailureGroupId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Struct } from "effect"
import { DeadLetterReader } from "../deliveries/DeadLetterReader.ts"
import { choice, field, filterBy, timeRange } from "../operations/Field.ts"
import { deliveryColumns, describeLastAttempt } from "./deliveries.ts"
import { list, time } from "./List.ts"

/** The fields that select dead letters, except by time. All given ones must match. */
export const deadLetterSelector = {
  endpointId: filterBy.endpoint,
  type: filterBy.type,
  reason: choice("Reason", DEAD_LETTER_REASONS, {
    all: "All",
    hint: "Rejected by the partner, out of attempts, or several workers crashed",
  }),
  groupId: field(FailureGroupId, "Issue", { placeholder: "fgr_…" }),
  status: filterBy.status,
  organizationId: filterBy.organization,
}

/** The fields that select dead letters. All given ones must match. */
export const deadLetterFilters = { ...deadLetterSelector, ...timeRange("Failed at or after", "Failed before") }

/** Fails if a filter without results selects a removed endpoint, because its dead letters can't be replayed. */
export const checkEndpoint = ({ endpointId }: DeadLetterFilter) =>
  endpointId === undefined ? Effect.void : findPresentEndpoint(endpointId)

export const deadLetters = list("dead-letters list", {
  forPartners: true,
  about: "List the dead letters that weren't replayed, newest first",
  filters: deadLetterFilters,
  cursor: { finishedAt: Timestamp, id: DeliveryId },
  read: (filter, { limit, after }) => DeadLetterReader.use(({ list }) => list(filter, limit + 1, after)),
  whenEmpty: checkEndpoint,
  columns: {
    ...Struct.pick(deliveryColumns, ["id", "endpointId", "eventType", "state", "attempts"]),
    lastOutcome: {
      ...deliveryColumns.lastOutcome,
      isOfConsole: true,
      value: (delivery) => describeLastAttempt(delivery),
      tone: () => "bad",
    },
    lastLatencyMs: { ...deliveryColumns.lastLatencyMs, isOfConsole: true },
    finishedAt: time("Given up"),
  },
  empty: "No dead letter matches. Replayed ones are listed as deliveries.",
})
