import { Context, type Effect } from "effect"
import type { Attempt, DeliveryLease } from "./Delivery.ts"

/** What a settlement does with the delivery. */
export type Settlement =
  | { readonly state: "delivered" }
  | { readonly state: "retry"; readonly delaySeconds: number }
  | { readonly state: "rejected" | "exhausted" }

/** The deliveries that wait for an attempt. */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /**
     * Leases what is due, oldest first and at most `perEndpoint` in flight to one endpoint, counted over all workers. What a
     * dead worker held becomes due again when its lease ends, with the same attempt number.
     */
    claim(options: {
      readonly limit: number
      readonly perEndpoint: number
      readonly leaseSeconds: number
    }): Effect.Effect<ReadonlyArray<DeliveryLease>>
    /** Records an attempt and what follows, in one transaction; false when the lease is no longer ours and nothing was written. */
    settle(lease: DeliveryLease, attempt: Attempt, settlement: Settlement): Effect.Effect<boolean>
  }
>()("domain/deliveries/DeliveryQueue") {}
