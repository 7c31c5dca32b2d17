import { Context, Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { DeliveryId, EndpointId, FailureGroupId, OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { DeadLetterReason } from "./Delivery.ts"

/** Selects dead letters: all conditions must match. */
export interface DeadLetterFilter {
  readonly organizationId?: OrganizationId
  /** The failure group. */
  readonly groupId?: FailureGroupId
  /** With this HTTP status of the last attempt. */
  readonly status?: number
  readonly endpointId?: EndpointId
  /** The event's type. */
  readonly type?: string
  readonly reason?: DeadLetterReason
  /** At or after this time, and before. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

/** Selects dead letters for a purge, in addition to their age. */
export interface PurgeFilter extends Omit<DeadLetterFilter, "from" | "to"> {
  /** Whether to keep dead letters from a time when the database's clock wasn't trusted, because their age is unknown. Default false. */
  readonly keepsDoubtful?: boolean
}

/** A dead letter in order of age. */
export interface DeadLetterCursor {
  readonly finishedAt: Timestamp
  readonly id: DeliveryId
}

/** Result of a purge step: number of deleted dead letters, and the start of the next step; null at the end. */
interface PurgeStep {
  readonly purged: number
  readonly next: DeadLetterCursor | null
}

/** The deliveries aren't dead letters, were already replayed, or belong to a removed endpoint. */
class NotDeadLetter extends DescribedError(
  "NotDeadLetter",
  ({ deliveryIds, replayed }: { readonly deliveryIds: ReadonlyArray<string>; readonly replayed: number }) => {
    const done = replayed === 0 ? "" : ` The other ${replayed} were replayed.`
    return `Not among the dead letters, replayed before, or for an endpoint that was removed: ${deliveryIds.join(", ")}.${done}`
  },
) {}

export class FailureGroupNotFound extends DescribedError(
  "FailureGroupNotFound",
  "No group of failures {groupId}: it never was, or it ended long ago and none of its dead letters is kept any more.",
) {}

/** Stores operators' decisions about failed deliveries: retries, dead letters and failure groups. */
export class DeliveryRepository extends Context.Service<
  DeliveryRepository,
  {
    /** Makes a waiting delivery due now; its attempt number stays. Returns false if it isn't waiting. */
    retryNow(deliveryId: DeliveryId): Effect.Effect<boolean>
    /**
     * Creates a new delivery of a dead letter's event, due now, starting with attempt 1. The dead letter keeps its history.
     * Returns false if the delivery isn't a dead letter, was already replayed, or belongs to a removed endpoint.
     */
    replay(deliveryId: DeliveryId): Effect.Effect<boolean>
    /** Returns the time `days` ago; null while the database's clock isn't trusted. */
    daysAgo(days: number): Effect.Effect<Timestamp | null>
    /** Deletes the selected dead letters among a few thousand after a cursor, replayed or not. */
    purge(filter: PurgeFilter, before: Timestamp, after: DeadLetterCursor | null): Effect.Effect<PurgeStep>
    /** Excludes a group from alerts and lists until it is unmuted. Replaces the reason of a muted group. */
    mute(groupId: FailureGroupId, reason: string): Effect.Effect<void, FailureGroupNotFound>
    /** Unmutes a group; no effect if it isn't muted. */
    unmute(groupId: FailureGroupId): Effect.Effect<void, FailureGroupNotFound>
  }
>()("domain/deliveries/DeliveryRepository") {}

/** Replays dead letters, each as a new delivery. Returns their number. Fails at the end if some can't be replayed. */
export const replayDeadLetters = Effect.fn("DeadLetters.replayDeadLetters")(function* (
  deliveryIds: ReadonlySet<DeliveryId>,
) {
  const repository = yield* DeliveryRepository
  const missed = yield* Effect.filter(deliveryIds, (id) =>
    Effect.map(repository.replay(id), (isReplayed) => !isReplayed),
  )
  const replayed = deliveryIds.size - missed.length
  if (missed.length > 0) return yield* new NotDeadLetter({ deliveryIds: missed, replayed })
  return replayed
})

/** Deletes all selected dead letters before a time, replayed or not, in steps. Returns their number. */
export const purgeDeadLetters = Effect.fn("DeadLetters.purgeDeadLetters")(function* (
  filter: PurgeFilter,
  before: Timestamp,
  /** Wraps each step, to report progress or to pause. */
  around: (step: Effect.Effect<PurgeStep>) => Effect.Effect<PurgeStep> = (step) => step,
) {
  const repository = yield* DeliveryRepository
  let purged = 0
  let after: DeadLetterCursor | null = null
  do {
    const step: PurgeStep = yield* around(repository.purge(filter, before, after))
    purged += step.purged
    after = step.next
  } while (after !== null)
  return purged
})
