import type { CampaignKey } from "@outreach/domain/campaigns/Campaign"
import { ErasureRepository } from "@outreach/domain/erasure/Erasure"
import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { RecipientPosition } from "@outreach/domain/recipients/Recipient"
import { settleAll } from "@outreach/domain/settleAll"
import { Array as Arr, Effect } from "effect"
import { logFailure, repeatEvery, withPauses } from "../loops/retryForever.ts"
import { whileClockTrusted } from "./watchClock.ts"

const BATCH_SIZE = 200

/**
 * Erases recipients of campaigns that ended more than `months` ago, once an hour, until interrupted.
 *
 * Several workers may do it concurrently: recipients that are already erased are skipped.
 */
export const eraseEndedRecipients = Effect.fnUntraced(function* (months: number) {
  const erasures = yield* ErasureRepository

  const eraseCampaign = Effect.fnUntraced(function* (campaign: CampaignKey) {
    let recipients = 0
    const eraseAllOf = Effect.gen(function* () {
      let after: RecipientPosition | null = null
      do {
        const page: Effect.Success<ReturnType<typeof erasures.readUnerased>> = yield* withPauses(
          erasures.readUnerased(campaign, after),
        )
        for (const ids of Arr.chunksOf(page.ids, BATCH_SIZE)) {
          // Counted before the rest, during which the worker may be stopped.
          yield* withPauses(Effect.map(eraseRecipients(campaign.organizationId, ids), (count) => (recipients += count)))
        }
        after = page.next
      } while (after !== null)
    })
    const report = Effect.suspend(() =>
      recipients === 0
        ? Effect.void
        : Effect.logInfo("recipients past their retention erased").pipe(
            Effect.annotateLogs({ ...campaign, months, recipients }),
          ),
    )
    yield* Effect.ensuring(eraseAllOf, report)
  })
  const eraseAll = Effect.gen(function* () {
    let campaign: CampaignKey | undefined
    while (true) {
      campaign = yield* erasures.findEnded(months, campaign ?? null)
      if (campaign === undefined) return
      const { campaignId } = campaign
      // A failed campaign is retried in the next round.
      yield* eraseCampaign(campaign).pipe(
        Effect.catchCause((cause) =>
          Effect.annotateLogs(logFailure("recipient erasure failed", cause), { campaignId }),
        ),
      )
    }
  })
  return yield* repeatEvery(
    "eraseEndedRecipients",
    "1 hour",
    whileClockTrusted(settleAll([erasures.forgetEvents, eraseAll])),
  )
})
