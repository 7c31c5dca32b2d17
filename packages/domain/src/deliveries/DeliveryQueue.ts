import { Context, type Effect } from "effect"
import type { DeliveryId, EndpointId } from "../Identifier.ts"
import type { Attempt, DeadLetterReason, DeliveryLease } from "./Delivery.ts"

/** What a settlement does with the delivery. */
export type Settlement =
  | { readonly state: "delivered" }
  | { readonly state: "retry"; readonly delaySeconds: number }
  | { readonly state: Exclude<DeadLetterReason, "poison"> }

/** How many leases of one delivery may end unsettled before it is set aside as poison. */
export const MOST_LOST_LEASES = 5

/**
 * The deliveries that wait for an attempt.
 *
 * An endpoint whose last five or more attempts failed for now is probed: one call at a time, at first a second after the failure, then
 * after 2, 4, 8 and at most 10 s. Once it answers, 2 calls may be in flight, then 4, then 8, then as many as to any other. What waits
 * meanwhile spends no attempt.
 */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /**
     * Leases what is due: at most `perEndpoint` in flight to one endpoint and `inAll` to all, counted over all workers; organizations
     * take turns, and so do the endpoints of each; what first fell due goes first, and replays after all else.
     *
     * What a dead worker held comes back through `recoverLost`.
     */
    claim(options: {
      readonly limit: number
      readonly perEndpoint: number
      readonly inAll: number
      readonly leaseSeconds: number
    }): Effect.Effect<ReadonlyArray<DeliveryLease>>
    /** Records an attempt and what follows, in one transaction; false when the lease is no longer ours and nothing was written. */
    settle(lease: DeliveryLease, attempt: Attempt, settlement: Settlement): Effect.Effect<boolean>
    /** Calls `wake` whenever something may have fallen due, until it fails or is interrupted; it may miss some. */
    listen(wake: Effect.Effect<void>): Effect.Effect<never>
    /**
     * Takes back the leases that ended unsettled: the attempt is recorded as `outcome_unknown`, and the delivery is due again, ahead of
     * others, under the same number; what has lost `MOST_LOST_LEASES` leases becomes a dead letter, as `poison`.
     */
    readonly recoverLost: Effect.Effect<ReadonlyArray<LostLease>>
  }
>()("domain/deliveries/DeliveryQueue") {}

/** A lease that ended unsettled, and whether its delivery was set aside for it. */
export interface LostLease {
  readonly deliveryId: DeliveryId
  readonly endpointId: EndpointId
  readonly poison: boolean
}
