import type { CampaignTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount, formatShare } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/operations/List"
import { COMPLAINT_LEVELS, type ComplaintLevel, complaintLevel, shareOfSent } from "@outreach/domain/campaigns/Campaign"
import { StatusBadge } from "../../components/values.tsx"

const LEVEL_TONES: Readonly<Record<ComplaintLevel, Tone>> = {
  low: "good",
  few: "neutral",
  raised: "warning",
  high: "bad",
}

type Feedback = Pick<CampaignTotals, "sent" | "complained" | "unsubscribed" | "refusedLater">

/** A share of the accepted messages with its complaint level. */
export const ComplaintRate = (counts: Pick<Feedback, "sent" | "complained">) => {
  const level = complaintLevel(counts)
  if (counts.complained === 0) return <>0</>
  return (
    <>
      {formatRate("complained", counts)} <StatusBadge tone={LEVEL_TONES[level]}>{COMPLAINT_LEVELS[level]}</StatusBadge>
    </>
  )
}

const formatRate = <Name extends string>(name: Name, counts: Readonly<Record<Name | "sent", number>>) =>
  `${formatCount(counts[name])} (${formatShare(shareOfSent(counts[name], counts), 2)} of sent)`

/** Counts of complaints, unsubscriptions and late refusals, with their shares of the accepted messages. */
export const feedbackFacts = (counts: Feedback) => ({
  Complaints: <ComplaintRate {...counts} />,
  Unsubscribed: formatRate("unsubscribed", counts),
  "Rejected later": formatRate("refusedLater", counts),
})
