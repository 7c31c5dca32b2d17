import { CampaignReader, type CampaignWithTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount } from "@outreach/backoffice/format"
import { recipients } from "@outreach/backoffice/operations/campaignRecipients"
import { campaigns, toCampaignRow } from "@outreach/backoffice/operations/campaignReports"
import { createCampaign } from "@outreach/backoffice/operations/campaigns"
import { exportOutcomes } from "@outreach/backoffice/operations/recipients"
import { RECIPIENT_LISTS, type RecipientListName } from "@outreach/backoffice/recipients/OutcomeReader"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { MAX_TEMPLATE_BYTES } from "@outreach/domain/mail/Message"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Struct } from "effect"
import { LinkLine, Variants } from "../../components/layout.tsx"
import { foreign, IdLink, Minute } from "../../components/values.tsx"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import { ComplaintRate } from "./ComplaintRate.tsx"

type Row = ReturnType<typeof toCampaignRow>

const cells = {
  id: ({ id, name, kind }: Row) => (
    <>
      <IdLink id={id}>{name}</IdLink>
      {kind === "survey" && <small> survey</small>}
    </>
  ),
  complained: (row: Row) => <ComplaintRate {...row} />,
  windowStart: (row: Row) => <SendingWindow {...row} />,
}

export const newCampaign = {
  title: "Create a campaign",
  // A character can take three bytes in a form, and there are two parts.
  action: operationAction("/campaigns/new", createCampaign, { maxBytes: 6 * MAX_TEMPLATE_BYTES }),
  controls: { layout: { value: "plain" } },
}

const campaignsPages = listPage("/campaigns", campaigns, { create: newCampaign, cells })

export const SendingWindow = (props: { readonly windowStart: Timestamp; readonly windowEnd: Timestamp }) => (
  <>
    <Minute at={props.windowStart} /> to <Minute at={props.windowEnd} />
  </>
)

/** Campaigns with their counts. */
export const CampaignTable = (props: {
  readonly title?: string
  readonly caption: string
  readonly rows: ReadonlyArray<CampaignWithTotals>
  readonly empty: string
}) => <ListTable {...props} list={campaigns} rows={props.rows.map(toCampaignRow)} cells={cells} />

/** Returns the URL of a list of a campaign's recipients. */
export const recipientsOf = (campaignId: string, outcome: RecipientListName): string =>
  `/campaigns/${campaignId}/recipients?outcome=${outcome}`

/** Returns the list of recipients that a campaign's total counts, if it has one. */
export const listCountedBy = (total: string): RecipientListName | undefined =>
  Struct.keys(RECIPIENT_LISTS).find((name) => RECIPIENT_LISTS[name].total === total)

const readCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const { name, organizationId } = yield* (yield* CampaignRepository).find(campaignId)
  return { name, totals: yield* (yield* CampaignReader).totals({ organizationId, campaignId }) }
})

/** A campaign's recipients by outcome, with masked NPIs and addresses. */
const recipientsPages = listPage("/campaigns/:campaign/recipients", recipients, {
  showLabel: "Show NPIs and addresses",
  reveals: exportOutcomes,
  read: ({ filter: { campaignId } }) => readCampaign(campaignId),
  around: ({ filter: { campaignId, outcome = "imported" }, name, totals, isShown }) => {
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
          <Variants
            label="Outcomes"
            of={Struct.keys(RECIPIENT_LISTS).map((each) => [each, countOf(each)])}
            chosen={outcome}
            to={(each) => recipientsOf(campaignId, each)}
          />
          <h2>{countOf(outcome)}</h2>
        </>
      ),
      below: <LinkLine to={`/campaigns/${campaignId}`}>Back to the campaign</LinkLine>,
    }
  },
})

export const campaignsRoutes = [...campaignsPages, newCampaign.action, ...recipientsPages] as const
