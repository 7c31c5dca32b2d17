import { Context, type Effect, Schema } from "effect"
import type { CampaignId, DeliveryId, EndpointId, EventId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Attempt, DeadLetterReason, DeliveryState, DeliverySummary } from "./Delivery.ts"

/** No delivery has this id. */
export class DeliveryNotFound extends Schema.TaggedError<DeliveryNotFound>()("DeliveryNotFound", {
  deliveryId: Schema.String,
}) {
  override get message(): string {
    return `No delivery ${this.deliveryId}.`
  }
}

/** Which deliveries are meant: all conditions must hold. */
export interface DeliveryFilter {
  readonly state?: DeliveryState
  readonly endpointId?: EndpointId
  readonly eventId?: EventId
  readonly eventType?: string
  readonly campaignId?: CampaignId
  /** Created at or after, and before. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

/** Which dead letters are meant: all conditions must hold. */
export interface DeadLetterFilter {
  readonly endpointId?: EndpointId
  readonly eventType?: string
  readonly reason?: DeadLetterReason
  /** Dead letters since this time or later, and before. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

/** How many dead letters of an endpoint have a reason. */
export interface DeadLetterCount {
  readonly endpointId: EndpointId
  readonly reason: DeadLetterReason
  readonly count: number
}

/** Which dead letters a purge means, beside their age. */
export type PurgeFilter = Omit<DeadLetterFilter, "from" | "to">

/** A place in the order of dead letters by age. */
export interface PurgePosition {
  readonly finishedAt: Timestamp
  readonly id: DeliveryId
}

/** All deliveries, as an operator sees them. */
export class DeliveryRepository extends Context.Service<
  DeliveryRepository,
  {
    /** Lists deliveries, newest first. */
    list(filter: DeliveryFilter & { readonly limit: number }): Effect.Effect<ReadonlyArray<DeliverySummary>>
    find(
      deliveryId: DeliveryId,
    ): Effect.Effect<
      { readonly delivery: DeliverySummary; readonly attempts: ReadonlyArray<Attempt> },
      DeliveryNotFound
    >
    /** Lists dead letters that were not replayed, newest first. */
    deadLetters(filter: DeadLetterFilter, limit: number): Effect.Effect<ReadonlyArray<DeliverySummary>>
    /** Counts dead letters that were not replayed, by endpoint and reason, the most first. */
    countDeadLetters(filter: DeadLetterFilter): Effect.Effect<ReadonlyArray<DeadLetterCount>>
    /** Gives a dead letter a new delivery of the same event, due now, from attempt 1; the old one keeps its history. False when it is none, or was replayed before. */
    replay(deliveryId: DeliveryId): Effect.Effect<boolean>
    /** Counts the dead letters of that age, replayed or not; returns the time before which they became dead letters, too. */
    countOld(
      filter: PurgeFilter,
      olderThanSeconds: number,
    ): Effect.Effect<{ readonly before: Timestamp; readonly count: number; readonly replayed: number }>
    /** Deletes matching dead letters, replayed or not, from `after` on, of at most some thousand that it looks at; returns how many, and where to go on. */
    purge(
      filter: PurgeFilter,
      before: Timestamp,
      after: PurgePosition | null,
    ): Effect.Effect<{ readonly purged: number; readonly next: PurgePosition | null }>
  }
>()("domain/deliveries/DeliveryRepository") {}
