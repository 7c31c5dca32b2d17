import { Context, type Effect, Schema } from "effect"
import type { DeliveryId, EndpointId } from "../Identifier.ts"
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

/** Which dead letters are meant: all conditions must hold. */
export interface DeadLetterFilter {
  readonly deliveryId?: DeliveryId
  readonly endpointId?: EndpointId
  readonly eventType?: string
  readonly reason?: DeadLetterReason
  /** Set aside at or after, and before. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

/** All deliveries, as an operator sees them. */
export class DeliveryLedger extends Context.Service<
  DeliveryLedger,
  {
    /** Lists deliveries, newest first. */
    list(filter: {
      readonly state?: DeliveryState
      readonly endpointId?: EndpointId
      readonly limit: number
    }): Effect.Effect<ReadonlyArray<DeliverySummary>>
    find(
      deliveryId: DeliveryId,
    ): Effect.Effect<
      { readonly delivery: DeliverySummary; readonly attempts: ReadonlyArray<Attempt> },
      DeliveryNotFound
    >
    /** Lists dead letters that were not replayed, newest first. */
    deadLetters(filter: DeadLetterFilter, limit: number): Effect.Effect<ReadonlyArray<DeliverySummary>>
    /** Gives each matching dead letter a new delivery of the same event, due now, from attempt 1; the old one keeps its history. Says how many. */
    replay(filter: DeadLetterFilter): Effect.Effect<number>
  }
>()("domain/deliveries/DeliveryLedger") {}
