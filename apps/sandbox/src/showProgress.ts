import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import type { Display } from "./openDisplay.ts"
import type { PartnerCounts } from "./partnerPage.ts"
import type { FirstWebhook } from "./View.ts"

/** Shows the counts of the campaign once a second, until interrupted. */
export const showProgress = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  display: Display,
  counts: {
    /** Descriptions of the services' failures and restarts. */
    readonly incidents: () => ReadonlyArray<string>
    readonly mails: () => number
    readonly unsubscribed: () => number
    readonly partner: PartnerCounts
    readonly firstWebhook: () => FirstWebhook | undefined
  },
) {
  const campaigns = yield* CampaignRepository
  let isFirstShown = false
  const show = Effect.gen(function* () {
    const incidents = counts.incidents()
    yield* display.show({ incidents })
    const firstWebhook = counts.firstWebhook()
    if (firstWebhook !== undefined && !isFirstShown) {
      isFirstShown = true
      yield* display.show({ firstWebhook })
    }
    const { recipients, published, sent } = yield* campaigns.progress(campaignId)
    const { status } = yield* campaigns.find(campaignId)
    const { counts: events, duplicates, reconciled, told } = counts.partner
    const outcomes = {
      opened: events["outreach.email_opened"] ?? 0,
      clicked: events["outreach.email_clicked"] ?? 0,
      bounced: events["outreach.email_bounced"] ?? 0,
      unsubscribed: counts.unsubscribed(),
      accounts: told["account_created"] ?? 0,
      learners: told["learner_qualified"] ?? 0,
      completers: told["completer_qualified"] ?? 0,
      repeated: duplicates,
    }
    const webhooks = Object.values(events).reduce((sum, count) => sum + count, 0)
    yield* display.show({
      progress: { status, recipients, published, sent, mails: counts.mails(), webhooks, reconciled, outcomes },
    })
  })
  // If the counts cannot be read, the next round tries again.
  return yield* Effect.forever(Effect.andThen(Effect.ignoreCause(show), Effect.sleep(1000)))
})
