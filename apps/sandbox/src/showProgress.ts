import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import type { Display } from "./openDisplay.ts"
import type { PartnerCounts } from "./partnerPage.ts"

/** The first webhook that the sample partner has received and verified in this run. */
export interface FirstWebhook {
  readonly id: string
  readonly type: string
  /** Since the start of the sandbox. */
  readonly seconds: number
}

const OUTCOMES = Object.entries(OUTGOING_EVENTS).filter(([, { name, isInDigest }]) => isInDigest && name !== "sent")

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
    const firstWebhook = counts.firstWebhook()
    if (firstWebhook !== undefined && !isFirstShown) {
      isFirstShown = true
      const { type, id, seconds } = firstWebhook
      display.print(`first webhook ${type} · ${id} · received and verified after ${seconds.toFixed(1)} s`)
    }
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
      ...counts.incidents(),
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
