import { Effect } from "effect"
import type { DeliveryId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import {
  type DeadLetterCursor,
  DeliveryRepository,
  NotDeadLetter,
  type PurgeFilter,
  type PurgeStep,
} from "./DeliveryRepository.ts"

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
