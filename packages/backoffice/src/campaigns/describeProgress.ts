import { type CampaignProgress, countUnsent } from "@outreach/domain/campaigns/Campaign"
import { Struct } from "effect"
import { formatCount, formatDuration } from "../format.ts"

const COUNTS = {
  sent: "sent",
  bounced: "bounced",
  refusedLater: "rejected later",
  complained: "complained",
  unsubscribed: "unsubscribed",
  deferred: "deferred",
  unknown: "unknown",
  quarantined: "quarantined",
  withdrawn: "withdrawn",
} as const satisfies Partial<Record<keyof CampaignProgress, string>>

/** Describes a campaign's progress: the share of recipients with an outcome, the recent rate with the time to go, and the counts by outcome. */
export const describeProgress = (progress: CampaignProgress) => {
  const { recipients, withdrawn, quarantined, answered, sentInLastMinute } = progress
  const wanted = recipients - withdrawn - quarantined
  const left = countUnsent(progress)
  const shown = Struct.keys(COUNTS).filter((name) => progress[name] > 0 || name === "sent" || name === "bounced")
  return {
    share: wanted <= 0 ? 0 : Math.min(1, answered / wanted),
    pace: [
      ...(left > 0 ? [`${formatCount(left)} left`] : []),
      ...(sentInLastMinute > 0 ? [`${formatCount(sentInLastMinute)} in the last minute`] : []),
      ...(left > 0 && sentInLastMinute > 0 ? [`about ${formatDuration((left / sentInLastMinute) * 60)} to go`] : []),
    ],
    counts: shown.map((name) => ({ name, text: `${formatCount(progress[name])} ${COUNTS[name]}` })),
  }
}
