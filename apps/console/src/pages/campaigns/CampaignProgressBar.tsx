import { type CampaignProgress, countUnsent } from "@outreach/domain/campaigns/Campaign"
import { formatCount, formatDuration, formatShare } from "../../components/format.ts"

const COUNTS = ["sent", "bounced", "complained", "deferred", "unknown", "quarantined", "withdrawn"] as const

/** The progress of a campaign: the share of recipients that the mail server has answered for, the rate, and the time left. */
export const CampaignProgressBar = ({ progress }: { readonly progress: CampaignProgress }) => {
  const { recipients, withdrawn, quarantined, answered, sentInLastMinute } = progress
  const wanted = recipients - withdrawn - quarantined
  const share = wanted <= 0 ? 0 : Math.min(1, answered / wanted)
  const left = countUnsent(progress)
  const parts = [
    `${formatShare(share)} answered for`,
    ...(left > 0 ? [`${formatCount(left)} left`] : []),
    ...(sentInLastMinute > 0 ? [`${formatCount(sentInLastMinute)} in the last minute`] : []),
    ...(left > 0 && sentInLastMinute > 0 ? [`about ${formatDuration((left / sentInLastMinute) * 60)} to go`] : []),
  ]
  const counts = COUNTS.flatMap((name) =>
    progress[name] > 0 || name === "sent" || name === "bounced" ? [`${formatCount(progress[name])} ${name}`] : [],
  )
  return (
    <div class="progress">
      <progress max={1000} value={Math.round(share * 1000)} aria-label={`${formatShare(share)} of the recipients`} />
      <p>
        {parts.join(" · ")}
        <br />
        <small>
          {counts.join(", ")} of {formatCount(recipients)} imported
        </small>
      </p>
    </div>
  )
}
