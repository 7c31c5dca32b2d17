import { Context, type Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { DeliveryId, EndpointId, FailureGroupId, OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { DeadLetterReason } from "./Delivery.ts"

/** Which dead letters are selected: all conditions must hold. */
export interface DeadLetterFilter {
  readonly organizationId?: OrganizationId
  /** Of this group of failures. */
  readonly groupId?: FailureGroupId
  /** With this HTTP status at the last attempt. */
  readonly status?: number
  readonly endpointId?: EndpointId
  readonly eventType?: string
  readonly reason?: DeadLetterReason
  /** Dead letters since this time or later, and before. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

/** Which dead letters a purge selects, beside their age. */
export interface PurgeFilter extends Omit<DeadLetterFilter, "from" | "to"> {
  /** Whether those stay that died while the database's clock was not believed, because their age is not known. Default false. */
  readonly keepsDoubtful?: boolean
}

/** A dead letter in the order of their age. */
export interface DeadLetterCursor {
  readonly finishedAt: Timestamp
  readonly id: DeliveryId
}

/** One step of a purge: how many dead letters it deleted, and after which one the next step begins; null at the end. */
export interface PurgeStep {
  readonly purged: number
  readonly next: DeadLetterCursor | null
}

/** Deliveries are not dead letters, were replayed before, or were for an endpoint that is removed. */
export class NotDeadLetter extends DescribedError(
  "NotDeadLetter",
  ({ deliveryIds, replayed }: { readonly deliveryIds: ReadonlyArray<string>; readonly replayed: number }) => {
    const done = replayed === 0 ? "" : ` The other ${replayed} were replayed.`
    return `Not among the dead letters, replayed before, or for an endpoint that was removed: ${deliveryIds.join(", ")}.${done}`
  },
) {}

export class DeadLetterRepository extends Context.Service<
  DeadLetterRepository,
  {
    /**
     * Gives a dead letter a new delivery of the same event, due now, from attempt 1. The dead letter keeps its history.
     * Returns false if the delivery is not a dead letter, was replayed before, or was for an endpoint that is removed.
     */
    replay(deliveryId: DeliveryId): Effect.Effect<boolean>
    /** Returns the time `days` ago; null while the database's clock is not believed. */
    daysAgo(days: number): Effect.Effect<Timestamp | null>
    /** Deletes the selected dead letters among some thousand after a cursor, replayed or not. */
    purge(filter: PurgeFilter, before: Timestamp, after: DeadLetterCursor | null): Effect.Effect<PurgeStep>
  }
>()("domain/deliveries/DeadLetterRepository") {}
