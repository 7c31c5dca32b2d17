import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { progressLine } from "@outreach/process/progress"
import { Effect } from "effect"
import type { PartnerCounts } from "./partnerPage.ts"

/** Shows a line of counts once a second, until interrupted. */
export const showProgress = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  counts: {
    /** Descriptions of the services' failures and restarts. */
    readonly incidents: () => ReadonlyArray<string>
    readonly mails: () => number
    readonly unsubscribed: () => number
    readonly partner: PartnerCounts
  },
) {
  const campaigns = yield* CampaignRepository
  const progress = yield* progressLine("stdout")
  const show = Effect.gen(function* () {
    const { recipients, published } = yield* campaigns.progress(campaignId)
    const { status } = yield* campaigns.find(campaignId)
    const { counts: events, duplicates, reconciled, told } = counts.partner
    const received = Object.values(events).reduce((sum, count) => sum + count, 0)
    const optional = {
      opened: events["outreach.email_opened"],
      clicked: events["outreach.email_clicked"],
      bounced: events["outreach.email_bounced"],
      unsubscribed: counts.unsubscribed(),
      accounts: told["account_created"],
      learners: told["learner_qualified"],
      completers: told["completer_qualified"],
      repeated: duplicates,
    }
    // The most important counts come first, because a narrow terminal cuts the line.
    const line = [
      ...counts.incidents(),
      `published ${published} of ${recipients}`,
      `mails ${counts.mails()}`,
      `webhooks ${received}`,
      `reconciled ${reconciled}`,
      ...Object.entries(optional).flatMap(([name, count]) => (count ? [`${name} ${count}`] : [])),
      `campaign ${status}`,
    ].join(" · ")
    yield* progress.show(line)
  })
  // If the counts cannot be read, the next round tries again.
  return yield* Effect.forever(Effect.andThen(Effect.ignoreCause(show), Effect.sleep(1000)))
}, Effect.scoped)
