import type { CampaignId } from "@outreach/domain/Identifier"
import { Clock, Effect, Exit, Option, RcMap, Scope, Semaphore } from "effect"

/** Maximum number of messages without a recorded outcome, for each turn. A killed process repeats at most these. */
const UNRECORDED_PER_TURN = 2

/**
 * Creates a function that waits for a message's turn. At most `size` messages are sent at the same time, and `maxPerCampaign` of one campaign,
 * so that slow replies to it don't block other campaigns.
 *
 * The turn ends with the scope, when the outcome was recorded. Returns an effect that lets the next message be sent before that, or undefined if no
 * turn is free before `beginBy`, in nanoseconds of the monotonic clock.
 */
export const createSendingTurns = Effect.fnUntraced(function* (size: number, maxPerCampaign: number) {
  const sending = yield* Semaphore.make(size)
  const unrecorded = yield* Semaphore.make(UNRECORDED_PER_TURN * size)
  const campaigns = yield* RcMap.make({ lookup: (_: CampaignId) => Semaphore.make(maxPerCampaign) })
  return Effect.fnUntraced(function* (campaignId: CampaignId, beginBy: bigint) {
    const turn = yield* Scope.fork(yield* Effect.scope)
    const release = Scope.close(turn, Exit.void)
    const begin = Effect.gen(function* () {
      yield* (yield* RcMap.get(campaigns, campaignId)).takeScoped(1)
      yield* sending.takeScoped(1)
    })
    const take = Effect.andThen(Scope.provide(begin, turn), unrecorded.takeScoped(1))
    const leftMs = Number((beginBy - (yield* Clock.currentTimeNanos)) / 1_000_000n)
    if (leftMs >= 0 && Option.isSome(yield* Effect.timeoutOption(take, leftMs))) return release
    yield* release
    return undefined
  })
})
