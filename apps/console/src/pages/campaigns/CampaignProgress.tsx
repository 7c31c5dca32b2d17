import type { CampaignHour, CampaignTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { type CampaignProgress, type CampaignStatus, countUnsent } from "@outreach/domain/campaigns/Campaign"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Funnel } from "../../components/charts/Funnel.tsx"
import { Histogram, HOUR_MS } from "../../components/charts/Histogram.tsx"
import { formatCount, formatDuration, formatShare } from "../../components/format.ts"
import { StatusBadge, type Tone } from "../../components/values.tsx"

const TONES: Readonly<Record<CampaignStatus, Tone>> = {
  draft: "neutral",
  scheduled: "neutral",
  publishing: "neutral",
  published: "neutral",
  sending: "good",
  completed: "neutral",
  paused: "warning",
  cancelled: "neutral",
}

export const CampaignStatusBadge = ({ status }: { readonly status: CampaignStatus }) => (
  <StatusBadge tone={TONES[status]}>{status}</StatusBadge>
)

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

/** The hours that are shown at least, so that one hour is not as wide as the page. */
const MIN_HOURS = 12

/** How many recipients reached each stage. */
export const CampaignFunnel = ({ totals }: { readonly totals: CampaignTotals }) => (
  <section>
    <h2>From imported to completer</h2>
    <Funnel title="Recipients" steps={stepsOf(totals)} empty="No recipient is imported yet." />
  </section>
)

/** When recipients were sent to. */
export const CampaignHours = (props: { readonly hours: ReadonlyArray<CampaignHour> }) => {
  const buckets = props.hours.map(({ hour, sent, bounced }) => ({ at: toUnixMillis(hour), counts: { sent, bounced } }))
  const to = (buckets.at(-1)?.at ?? 0) + HOUR_MS
  const from = Math.min(buckets[0]?.at ?? 0, to - MIN_HOURS * HOUR_MS)
  return (
    <>
      <h2>Sent over time</h2>
      <Histogram
        title="E-mails by hour"
        series={{ sent: "good", bounced: "bad" }}
        buckets={buckets}
        from={from}
        to={to}
        empty="Nothing is sent yet."
      />
    </>
  )
}

const stepsOf = (totals: CampaignTotals) =>
  totals.recipients === 0
    ? []
    : [
        { label: "imported", count: totals.recipients, note: `${formatCount(totals.withdrawn)} withdrawn` },
        { label: "published", count: totals.published },
        { label: "sent", count: totals.sent, note: `${formatCount(totals.bounced)} bounced, at once or later` },
        {
          label: "opened",
          count: totals.unsuspectedOpened,
          note: `${formatCount(totals.opened)} with suspected bots`,
        },
        {
          label: "clicked",
          count: totals.unsuspectedClicked,
          note: `${formatCount(totals.clicked)} with suspected bots`,
        },
        { label: "account created", count: totals.accounts, note: "after the e-mail was sent" },
        { label: "learner", count: totals.learners, note: "after the e-mail was sent" },
        { label: "completer", count: totals.completers, note: "after the e-mail was sent" },
      ]
