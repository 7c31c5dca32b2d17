import { Schema } from "effect"
import { DeliveryId, EndpointId, EventId, OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** One event on its way to one endpoint, in the hands of the worker that owns the endpoint. */
export interface Delivery {
  readonly organizationId: OrganizationId
  readonly id: DeliveryId
  readonly endpointId: EndpointId
  /** The endpoint's when it was read. */
  readonly version: number
  readonly eventId: EventId
  /** Whether it has a row of its own; otherwise it was read from the log. */
  readonly isRow: boolean
  /** The event's envelope as it was serialised when the event was made. */
  readonly body: string
  /** The trace in which the event was published, as W3C Trace Context writes it; null when nobody traced. */
  readonly traceparent: string | null
  /** Which attempt this is, from 1. */
  readonly attempt: number
  /** How many workers were lost with a call of it. */
  readonly losses: number
  /** Whether an operator asked for it again. */
  readonly isReplay: boolean
  /** When its event was published; null unless it was read from the log. */
  readonly emittedAt: Timestamp | null
  /** The database's clock when it was read, in Unix milliseconds; a worker's own clock may be wrong. */
  readonly readAt: number
}

/** Why a delivery is a dead letter: the partner rejected it, its attempts are exhausted, or its workers were lost with it again and again. */
export const DEAD_LETTER_REASONS = ["rejected", "exhausted", "poison"] as const
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number]

/**
 * Where a delivery stands: waiting for its next attempt, being sent, delivered, cancelled because its endpoint was removed, or in the dead
 * letters with the reason.
 */
export const DELIVERY_STATES = ["pending", "sending", "delivered", "cancelled", ...DEAD_LETTER_REASONS] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The outcome of an attempt whose worker was lost before it wrote one. */
export const UNKNOWN_OUTCOME = "outcome_unknown"

export const Attempt = Schema.Struct({
  /** Which attempt it was, from 1; one whose outcome is unknown is repeated under its number. */
  number: Schema.Int,
  startedAt: Timestamp,
  /** Null when the outcome is unknown. */
  latencyMs: Schema.NullOr(Schema.Int),
  /** The HTTP status, or null when no response came. */
  status: Schema.NullOr(Schema.Int),
  /** Why the attempt counts as it does: a `DeliveryReason`, or `UNKNOWN_OUTCOME`. */
  outcome: Schema.String,
  /** The first 4 KiB of the response, as text; or the words of a name server about a name that does not resolve. */
  response: Schema.NullOr(Schema.String),
})
export type Attempt = typeof Attempt.Type

/** A delivery as an operator sees it. */
export const DeliverySummary = Schema.Struct({
  organizationId: OrganizationId,
  id: DeliveryId,
  endpointId: EndpointId,
  eventId: EventId,
  /** Null when the event is no longer stored. */
  eventType: Schema.NullOr(Schema.String),
  state: Schema.Literals(DELIVERY_STATES),
  /** Attempts made that the schedule counts. */
  attempts: Schema.Int,
  /** The status, the outcome and the latency of the last attempt; null before the first one. */
  lastStatus: Attempt.fields.status,
  lastOutcome: Schema.NullOr(Attempt.fields.outcome),
  lastLatencyMs: Attempt.fields.latencyMs,
  /** When the next attempt is due; null once there is none. */
  dueAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  finishedAt: Schema.NullOr(Timestamp),
  /** The delivery that a replay made of this one. */
  replayedAs: Schema.NullOr(DeliveryId),
})
export type DeliverySummary = typeof DeliverySummary.Type
