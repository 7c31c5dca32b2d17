import { CampaignReader, type CampaignTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount, formatShare } from "@outreach/backoffice/format"
import { recipients } from "@outreach/backoffice/operations/campaignRecipients"
import { campaigns, type toCampaignRow } from "@outreach/backoffice/operations/campaignReports"
import { createCampaign } from "@outreach/backoffice/operations/campaigns"
import type { Tone } from "@outreach/backoffice/operations/List"
import { exportOutcomes } from "@outreach/backoffice/operations/recipients"
import { RECIPIENT_LISTS, type RecipientListName } from "@outreach/backoffice/recipients/OutcomeReader"
import { COMPLAINT_LEVELS, type ComplaintLevel, complaintLevel, shareOfSent } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { MAX_TEMPLATE_BYTES } from "@outreach/domain/mail/Message"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Struct } from "effect"
import { Chips, LinkLine } from "../../components/layout.tsx"
import { foreign, IdLink, Minute, StatusBadge } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"

type Row = ReturnType<typeof toCampaignRow>

/** The content of single cells of lists of campaigns. */
export const campaignCells = {
  id: ({ id, name, kind }: Row) => (
    <>
      <IdLink id={id}>{name}</IdLink>
      {kind === "survey" && <small> survey</small>}
    </>
  ),
  complained: (row: Row) => <ComplaintRate {...row} />,
  windowStart: (row: Row) => <SendingWindow {...row} />,
}

/** A character can take three bytes in a form, and there are two parts. */
export const MAX_MAIL_FORM_BYTES = 6 * MAX_TEMPLATE_BYTES

export const newCampaign = {
  title: "Create a campaign",
  action: operationAction("/campaigns/new", createCampaign, { maxBytes: MAX_MAIL_FORM_BYTES }),
  controls: { layout: { value: "plain" } },
}

const campaignsPages = listPage("/campaigns", campaigns, {
  create: newCampaign,
  around: () => Effect.succeed({ cells: campaignCells }),
})

export const SendingWindow = (props: { readonly windowStart: Timestamp; readonly windowEnd: Timestamp }) => (
  <>
    <Minute at={props.windowStart} /> to <Minute at={props.windowEnd} />
  </>
)

/** Returns the URL of a list of a campaign's recipients. */
export const recipientsOf = (campaignId: string, outcome: RecipientListName): string =>
  `/campaigns/${campaignId}/recipients?outcome=${outcome}`

/** Returns the list of recipients that a campaign's total counts, if it has one. */
export const listCountedBy = (total: string): RecipientListName | undefined =>
  Struct.keys(RECIPIENT_LISTS).find((name) => RECIPIENT_LISTS[name].total === total)

const recipientsPages = listPage("/campaigns/:campaign/recipients", recipients, {
  showLabel: "Show NPIs and addresses",
  reveals: exportOutcomes,
  *around({ filter: { campaignId, outcome = "imported" }, isShown }) {
    const { name, organizationId } = yield* (yield* CampaignRepository).find(campaignId)
    const totals = yield* (yield* CampaignReader).totals({ organizationId, campaignId })
    const countOf = (each: RecipientListName) => {
      const { label, total } = RECIPIENT_LISTS[each]
      return `${label}: ${formatCount(totals[total])}`
    }
    return {
      title: foreign`Recipients of ${name}`,
      command: ["recipients export", { campaign: campaignId, out: "outcomes.csv", reveal: isShown }],
      controls: { outcome: false },
      above: (
        <>
          <Chips
            label="Outcomes"
            of={Struct.keys(RECIPIENT_LISTS).map((each) => [recipientsOf(campaignId, each), countOf(each)])}
            chosen={recipientsOf(campaignId, outcome)}
          />
          <h2>{countOf(outcome)}</h2>
        </>
      ),
      below: <LinkLine to={`/campaigns/${campaignId}`}>Back to the campaign</LinkLine>,
    }
  },
})

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

export const campaignsRoutes = [...campaignsPages, newCampaign.action, ...recipientsPages] as const
