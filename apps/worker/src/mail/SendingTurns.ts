import type { CampaignId } from "@outreach/domain/Identifier"
import type { SendingTurn } from "@outreach/domain/mail/Outreach"
import { Clock, Effect } from "effect"

/** A message's turn. The next message may be sent before this one's outcome is recorded. */
interface Turn extends SendingTurn {
  /** Notes that the outcome was recorded, or never will be. */
  end(): void
}

interface Waiter {
  readonly campaignId: CampaignId
  readonly take: (turn: Turn | undefined) => void
}

/** Maximum number of messages without a recorded outcome, for each turn. A killed process repeats at most these. */
const UNRECORDED_PER_TURN = 2

/**
 * Limits the messages that are sent at the same time to `size`, and to `maxPerCampaign` of one campaign, so that slow replies to it
 * don't block other campaigns.
 */
export class SendingTurns {
  readonly #size: number
  readonly #maxPerCampaign: number
  readonly #waiters = new Set<Waiter>()
  readonly #sending = new Map<CampaignId, number>()
  #total = 0
  #unrecorded = 0

  constructor(size: number, maxPerCampaign: number) {
    this.#size = size
    this.#maxPerCampaign = maxPerCampaign
  }

  /** Waits for a turn; returns undefined if none is free before `beginBy`, in nanoseconds of the monotonic clock. */
  take(campaignId: CampaignId, beginBy: bigint): Effect.Effect<Turn | undefined> {
    return Effect.flatMap(Clock.currentTimeNanos, (now) =>
      Effect.callback((resume) => {
        if (now > beginBy) return resume(Effect.succeed(undefined))
        if (this.#isFree(campaignId)) return resume(Effect.succeed(this.#begin(campaignId)))
        const end = () => {
          clearTimeout(timer)
          this.#waiters.delete(waiter)
        }
        const waiter: Waiter = {
          campaignId,
          take: (turn) => {
            end()
            resume(Effect.succeed(turn))
          },
        }
        const timer = setTimeout(() => waiter.take(undefined), Number((beginBy - now) / 1_000_000n) + 1)
        this.#waiters.add(waiter)
        return Effect.sync(end)
      }),
    )
  }

  #isFree(campaignId: CampaignId): boolean {
    return (
      this.#total < this.#size &&
      this.#unrecorded < UNRECORDED_PER_TURN * this.#size &&
      (this.#sending.get(campaignId) ?? 0) < this.#maxPerCampaign
    )
  }

  #begin(campaignId: CampaignId): Turn {
    this.#count(campaignId, 1)
    this.#unrecorded += 1
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      this.#count(campaignId, -1)
      this.#serve()
    }
    return {
      release,
      end: () => {
        this.#unrecorded -= 1
        release()
        this.#serve()
      },
    }
  }

  #count(campaignId: CampaignId, change: 1 | -1): void {
    this.#total += change
    const sending = (this.#sending.get(campaignId) ?? 0) + change
    if (sending === 0) this.#sending.delete(campaignId)
    else this.#sending.set(campaignId, sending)
  }

  #serve(): void {
    for (const waiter of this.#waiters) {
      if (this.#isFree(waiter.campaignId)) waiter.take(this.#begin(waiter.campaignId))
    }
  }
}
