import type { CampaignId } from "@outreach/domain/Identifier"
import { Clock, Effect, Exit, Option, RcMap, Scope, Semaphore } from "effect"

/**
 * Maximum number of messages without a recorded outcome, for each turn. A killed process repeats at most these.
 * With two, the process was idle for a seventh of the time.
 */
const UNRECORDED_PER_TURN = 8
/** A wait for a turn from which on turns are slow, and for how long. */
const SLOW_WAIT_NANOS = 5_000_000_000n
const SLOW_NANOS = 60_000_000_000n

/**
 * Creates `takeTurn`, which waits for a message's turn. At most `size` messages are sent at the same time, and `maxPerCampaign` of one campaign,
 * so that slow replies to it don't block other campaigns.
 *
 * The turn ends with the scope, when the outcome was recorded. Returns an effect that lets the next message be sent before that, or undefined if no
 * turn is free before `beginBy`, in nanoseconds of the monotonic clock.
 *
 * `areSlow` returns whether a message waited for more than five seconds, until a minute later.
 */
export const createSendingTurns = Effect.fnUntraced(function* (size: number, maxPerCampaign: number) {
  const sending = yield* Semaphore.make(size)
  const unrecorded = yield* Semaphore.make(UNRECORDED_PER_TURN * size)
  const campaigns = yield* RcMap.make({ lookup: (_: CampaignId) => Semaphore.make(maxPerCampaign) })
  const clock = yield* Clock.Clock
  let slowUntil = 0n
  const takeTurn = Effect.fnUntraced(function* (campaignId: CampaignId, beginBy: bigint) {
    const from = clock.currentTimeNanosUnsafe()
    const turn = yield* Scope.fork(yield* Effect.scope)
    const release = Scope.close(turn, Exit.void)
    const begin = Effect.gen(function* () {
      yield* (yield* RcMap.get(campaigns, campaignId)).takeScoped(1)
      yield* sending.takeScoped(1)
    })
    const take = Effect.andThen(Scope.provide(begin, turn), unrecorded.takeScoped(1))
    const leftMs = Number((beginBy - from) / 1_000_000n)
    const isTaken = leftMs >= 0 && Option.isSome(yield* Effect.timeoutOption(take, leftMs))
    const now = clock.currentTimeNanosUnsafe()
    if (now - from > SLOW_WAIT_NANOS) slowUntil = now + SLOW_NANOS
    if (isTaken) return release
    yield* release
    return undefined
  })
  return { takeTurn, areSlow: () => clock.currentTimeNanosUnsafe() < slowUntil }
})
