import { Schema } from "effect"
import { DeliveryId, EndpointId, EventId, OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** An event being delivered to an endpoint by the worker that owns the endpoint. */
export const Delivery = Schema.Struct({
  organizationId: OrganizationId,
  id: DeliveryId,
  endpointId: EndpointId,
  /** Version of the endpoint when the delivery was read. */
  version: Schema.Int,
  eventId: EventId,
  /** Whether it has a delivery row; otherwise it was read from the log. */
  isRow: Schema.Boolean,
  /** The event's envelope, serialized when the event was created. */
  body: Schema.String,
  /** W3C trace context of the event's publication; null if it wasn't traced. */
  traceparent: Schema.NullOr(Schema.String),
  /** Attempt number, starting at 1. */
  attempt: Schema.Int,
  /** Number of workers lost during its calls. */
  losses: Schema.Int,
  /** Whether an operator requested a replay. */
  isReplay: Schema.Boolean,
  /** Publication time of its event; null unless it was read from the log. */
  emittedAt: Schema.NullOr(Timestamp),
  /** Unix time of the database minus the worker's monotonic time, in milliseconds, when it was read: the worker's clock may be wrong. */
  databaseAheadMs: Schema.Number,
})
export type Delivery = typeof Delivery.Type

/** Reason of a dead letter: rejected by the partner, attempts exhausted, or its workers were lost repeatedly. */
export const DEAD_LETTER_REASONS = ["rejected", "exhausted", "poison"] as const
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number]

/**
 * State of a delivery: waiting for its next attempt, being sent, delivered, cancelled because its endpoint was removed, or a dead
 * letter with its reason.
 */
export const DELIVERY_STATES = ["pending", "sending", "delivered", "cancelled", ...DEAD_LETTER_REASONS] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Outcome of an attempt whose worker was lost before writing it. */
export const UNKNOWN_OUTCOME = "outcome_unknown"

export const Attempt = Schema.Struct({
  /** Attempt number, starting at 1. An attempt with unknown outcome is repeated with the same number. */
  number: Schema.Int,
  startedAt: Timestamp,
  /** Null if the outcome is unknown. */
  latencyMs: Schema.NullOr(Schema.Int),
  /** HTTP status; null without a response. */
  status: Schema.NullOr(Schema.Int),
  /** Reason for the verdict: a `DeliveryReason`, or `UNKNOWN_OUTCOME`. */
  outcome: Schema.String,
  /** First 4 KiB of the response as text, null if it was erased; or a name server's result for an unresolvable name. */
  response: Schema.NullOr(Schema.String),
})
export type Attempt = typeof Attempt.Type

/** A delivery for operators. */
export const DeliverySummary = Schema.Struct({
  organizationId: OrganizationId,
  id: DeliveryId,
  endpointId: EndpointId,
  eventId: EventId,
  /** Null if the event is no longer stored. */
  eventType: Schema.NullOr(Schema.String),
  state: Schema.Literals(DELIVERY_STATES),
  /** Number of attempts that count in the schedule. */
  attempts: Schema.Int,
  /** Status, outcome and latency of the last attempt; null before the first. */
  lastStatus: Attempt.fields.status,
  lastOutcome: Schema.NullOr(Attempt.fields.outcome),
  lastLatencyMs: Attempt.fields.latencyMs,
  /** Time of the next attempt; null if there is none. */
  dueAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  finishedAt: Schema.NullOr(Timestamp),
  /** The delivery created by a replay of this one. */
  replayedAs: Schema.NullOr(DeliveryId),
})
export type DeliverySummary = typeof DeliverySummary.Type
