import type { CampaignId } from "@outreach/domain/Identifier"
import { monotonicMs } from "@outreach/domain/monotonicMs"
import { Clock, Effect, Latch } from "effect"

/** A message that waits for its turn. */
interface Waiting {
  readonly campaignId: CampaignId
  readonly beginBy: number
  readonly resume: (isTaken: boolean) => void
}

/**
 * Creates the turns in which messages are sent, in the order in which they wait.
 *
 * At most `size` messages are sent at the same time, and `perCampaign` of one campaign, so that slow replies to it don't block other campaigns.
 * At most `unrecorded` are sent or not recorded yet: a killed process repeats at most these.
 */
export const createSendingTurns = Effect.fnUntraced(function* (limits: {
  readonly size: number
  readonly perCampaign: number
  readonly unrecorded: number
}) {
  const clock = yield* Clock.Clock
  const waiting = new Set<Waiting>()
  const areWaiting = yield* Latch.make()
  const sending = new Map<CampaignId, number>()
  const counts = { sending: 0, unrecorded: 0 }
  let isStopped = false
  /** Numbers of granted turns by second: of the last one with any, and of the one before it. */
  const granted = { second: 0, now: 0, before: 0 }

  const countSending = (campaignId: CampaignId, change: 1 | -1) => {
    counts.sending += change
    const ofCampaign = (sending.get(campaignId) ?? 0) + change
    if (ofCampaign === 0) sending.delete(campaignId)
    else sending.set(campaignId, ofCampaign)
  }

  const readGranted = () => {
    const second = Math.floor(monotonicMs(clock) / 1000)
    if (second === granted.second) return granted
    return Object.assign(granted, { second, now: 0, before: second === granted.second + 1 ? granted.now : 0 })
  }

  const grant = () => {
    for (const message of waiting) {
      if (counts.sending >= limits.size || counts.unrecorded >= limits.unrecorded) return
      if ((sending.get(message.campaignId) ?? 0) >= limits.perCampaign) continue
      waiting.delete(message)
      countSending(message.campaignId, 1)
      counts.unrecorded += 1
      readGranted().now += 1
      message.resume(true)
    }
  }

  const giveUp = (until: number) => {
    for (const message of waiting) {
      if (message.beginBy > until) return
      waiting.delete(message)
      message.resume(false)
    }
  }

  const watch = Effect.gen(function* () {
    yield* areWaiting.await
    const [first] = waiting
    if (first === undefined) return yield* areWaiting.close
    yield* Effect.sleep(Math.max(0, first.beginBy - monotonicMs(clock)))
    return giveUp(monotonicMs(clock))
  })
  yield* Effect.forkScoped(Effect.forever(watch))

  return {
    /**
     * Waits for a message's turn, and sends it. `send` gets an effect that ends the turn before the outcome is recorded, or undefined if no turn was
     * free before `beginBy` or the turns were stopped. `beginBy` is in monotonic milliseconds, and no earlier than in previous calls.
     */
    inTurn: <A, E, R>(
      campaignId: CampaignId,
      beginBy: number,
      send: (release: Effect.Effect<void> | undefined) => Effect.Effect<A, E, R>,
    ): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const has = { turn: false, outcome: false }
        const take = Effect.callback<boolean>((respond) => {
          if (isStopped || beginBy < monotonicMs(clock)) return respond(Effect.succeed(false))
          const resume = (isTaken: boolean) => {
            has.turn = has.outcome = isTaken
            // Not in this step, because many messages that can't be composed would nest their steps.
            respond(Effect.as(Effect.yieldNow, isTaken))
          }
          const message = { campaignId, beginBy, resume }
          waiting.add(message)
          areWaiting.openUnsafe()
          grant()
          return Effect.sync(() => waiting.delete(message))
        })
        const release = Effect.sync(() => {
          if (has.turn) countSending(campaignId, -1)
          has.turn = false
          grant()
        })
        const record = Effect.sync(() => {
          if (has.outcome) counts.unrecorded -= 1
          has.outcome = false
        })
        return take.pipe(
          Effect.flatMap((isTaken) => send(isTaken ? release : undefined)),
          Effect.ensuring(Effect.andThen(record, release)),
        )
      }),

    /** Returns the number of turns that were granted in this second, or in the last one if that is more. */
    perSecond: (): number => Math.max(readGranted().now, granted.before),

    /** Ends the wait of all messages, without a turn, and grants no further turns. */
    stop: Effect.sync(() => {
      isStopped = true
      giveUp(Number.POSITIVE_INFINITY)
    }),
  }
})
