import type { DeliveryId, EndpointId, EventId, OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

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

/**
 * Why a delivery is a dead letter: the partner refused it, its attempts are spent, or whoever sent it never lived to say what came of
 * it, again and again.
 */
export const DEAD_LETTER_REASONS = ["rejected", "exhausted", "poison"] as const
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number]

/** Where a delivery stands: waiting for its next attempt, being sent, delivered, or in the dead letters with the reason. */
export const DELIVERY_STATES = ["pending", "sending", "delivered", ...DEAD_LETTER_REASONS] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** How one attempt went. */
export interface Attempt {
  /** Which attempt it was, from 1; one whose outcome is unknown is made again under its number. */
  readonly number: number
  readonly startedAt: Timestamp
  /** Null when the outcome is unknown. */
  readonly latencyMs: number | null
  /** The HTTP status, or null when no response came. */
  readonly status: number | null
  /** Why the attempt counts as it does: a word of `retry-policy`, or `outcome_unknown` when its worker was lost before it said so. */
  readonly outcome: string
  /** The first 4 KiB of the response, as text; or what a name server said of a name that does not resolve. */
  readonly response: string | null
}

/** A delivery as an operator sees it. */
export interface DeliverySummary {
  readonly organizationId: OrganizationId
  readonly id: DeliveryId
  readonly endpointId: EndpointId
  readonly eventId: EventId
  /** Null when the event is no longer stored. */
  readonly eventType: string | null
  readonly state: DeliveryState
  /** Attempts made, of the schedule's. */
  readonly attempts: number
  /** When the next attempt is due; null once there is none. */
  readonly dueAt: Timestamp | null
  readonly createdAt: Timestamp
  readonly finishedAt: Timestamp | null
  /** The delivery that a replay made of this one. */
  readonly replayedAs: DeliveryId | null
}
