import { type Campaign, type CampaignProgress, countUnsent } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { drawBar, progressLine } from "@outreach/process/progress"
import { Effect } from "effect"
import { Output } from "../output/Output.ts"

/** The statuses in which a campaign sends nothing. */
const IDLE_STATUSES: ReadonlyArray<Campaign["status"]> = ["completed", "paused", "cancelled", "draft"]

/** Prints a campaign's progress to standard error until nothing more is sent; nothing with `--json`. */
export const followCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const campaigns = yield* CampaignRepository
  const { json } = yield* Output
  const line = json ? undefined : yield* progressLine("stderr")
  while (true) {
    const { status } = yield* campaigns.find(campaignId)
    yield* line?.show(`${status} · ${formatProgress(yield* campaigns.progress(campaignId))}`) ?? Effect.void
    if (IDLE_STATUSES.includes(status)) break
    yield* Effect.sleep("1 second")
  }
}, Effect.scoped)

const numbers = new Intl.NumberFormat("en-US")

/** Formats a campaign's progress: a bar of the answered recipients, the rate, the remaining time, and the counts by outcome. */
export const formatProgress = (progress: CampaignProgress): string => {
  const { recipients, withdrawn, quarantined, answered, sentInLastMinute } = progress
  const wanted = recipients - withdrawn - quarantined
  const share = wanted <= 0 ? 0 : Math.min(1, answered / wanted)
  const rate = sentInLastMinute === 0 ? [] : [`${numbers.format(sentInLastMinute)} a minute`]
  const left = countUnsent(progress)
  const time = left > 0 && sentInLastMinute > 0 ? [`${formatMinutes(left / sentInLastMinute)} left`] : []
  const counts = (
    ["sent", "bounced", "complained", "deferred", "unknown", "quarantined", "withdrawn"] as const
  ).flatMap((name) =>
    progress[name] > 0 || name === "sent" || name === "bounced" ? [`${numbers.format(progress[name])} ${name}`] : [],
  )
  return [drawBar(share), ...rate, ...time, `${counts.join(", ")} of ${numbers.format(recipients)}`].join(" · ")
}

const formatMinutes = (minutes: number): string => {
  if (minutes < 1) return "less than a minute"
  if (minutes < 120) return `${Math.ceil(minutes)} min`
  return minutes < 2880 ? `${Math.ceil(minutes / 60)} h` : `${Math.ceil(minutes / 1440)} d`
}
