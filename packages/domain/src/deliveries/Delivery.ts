import type { Redacted } from "effect"
import type { DeliveryId, EndpointId, EventId, OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

/** One event on its way to one endpoint, held by one worker until the lease ends. */
export interface DeliveryLease {
  readonly organizationId: OrganizationId
  readonly id: DeliveryId
  /** Proves that the lease is still this worker's. */
  readonly leaseToken: string
  readonly endpointId: EndpointId
  readonly url: string
  readonly eventId: EventId
  /** The event's envelope as it was serialised when the event was made. */
  readonly body: string
  /** Which attempt this is, from 1. */
  readonly attempt: number
  /** The signing secrets that were active when the lease was taken. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** Where a delivery stands: waiting for its next attempt, delivered, or in the dead letters with the reason. */
export type DeliveryState = "pending" | "delivered" | "rejected" | "exhausted"

/** How one attempt went. */
export interface Attempt {
  readonly number: number
  readonly startedAt: Timestamp
  readonly latencyMs: number
  /** The HTTP status, or null when no response came. */
  readonly status: number | null
  /** Why the attempt counts as it does, a word of `retry-policy`. */
  readonly outcome: string
  /** The first 4 KiB of the response, as text. */
  readonly response: string | null
}

/** A delivery as an operator sees it. */
export interface DeliverySummary {
  readonly organizationId: OrganizationId
  readonly id: DeliveryId
  readonly endpointId: EndpointId
  readonly eventId: EventId
  readonly eventType: string
  readonly state: DeliveryState
  /** Attempts made. */
  readonly attempts: number
  /** When the next attempt is due; null once there is none. */
  readonly dueAt: Timestamp | null
  readonly createdAt: Timestamp
  readonly finishedAt: Timestamp | null
  /** The delivery that a replay made of this one. */
  readonly replayedAs: DeliveryId | null
}
