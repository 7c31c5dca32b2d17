import { toUnixMillis } from "@outreach/domain/Timestamp"
import type { CampaignHour, CampaignTotals } from "@outreach/postgres/campaigns/CampaignReader"
import { Funnel } from "../../components/charts/Funnel.tsx"
import { Histogram, HOUR_MS } from "../../components/charts/Histogram.tsx"
import { formatCount } from "../../components/format.ts"

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
        series={[
          { name: "sent", color: "var(--good)" },
          { name: "bounced", color: "var(--bad)" },
        ]}
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
