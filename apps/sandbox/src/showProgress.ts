import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import type { Display } from "./openDisplay.ts"
import type { PartnerCounts } from "./partnerPage.ts"

const OUTCOMES = Object.entries(OUTGOING_EVENTS).filter(([, { name, isInDigest }]) => isInDigest && name !== "sent")

/** Shows the counts of the campaign once a second, until interrupted. */
export const showProgress = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  display: Display,
  counts: {
    readonly mails: () => number
    readonly unsubscribed: () => number
    readonly partner: PartnerCounts
  },
) {
  const campaigns = yield* CampaignRepository
  const show = Effect.gen(function* () {
    const { recipients, published, sent } = yield* campaigns.progress(campaignId)
    const { status } = yield* campaigns.find(campaignId)
    const { counts: events, duplicates, reconciled, told } = counts.partner
    const outcomes = {
      ...Object.fromEntries(OUTCOMES.map(([type, { name }]) => [name, events[type] ?? 0])),
      unsubscribed: counts.unsubscribed(),
      accounts: told["account_created"] ?? 0,
      learners: told["learner_qualified"] ?? 0,
      completers: told["completer_qualified"] ?? 0,
      repeated: duplicates,
    }
    const webhooks = Object.values(events).reduce((sum, count) => sum + count, 0)
    const number = (count: number) => count.toLocaleString("en")
    display.count([
      `published ${number(published)} of ${number(recipients)}`,
      `sent ${number(sent)}`,
      `mails ${number(counts.mails())}`,
      `webhooks received ${number(webhooks)}`,
      `reconciled ${number(reconciled)}`,
      ...Object.entries(outcomes).flatMap(([name, count]) => (count > 0 ? [`${name} ${number(count)}`] : [])),
      `campaign ${status}`,
    ])
  })
  // If the counts cannot be read, the next round tries again.
  return yield* Effect.forever(Effect.andThen(Effect.ignoreCause(show), Effect.sleep(1000)))
})
