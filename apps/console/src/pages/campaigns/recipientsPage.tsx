import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount } from "@outreach/backoffice/format"
import { recipients } from "@outreach/backoffice/lists/recipients"
import { exportOutcomes } from "@outreach/backoffice/operations/recipients"
import { RECIPIENT_LISTS, type RecipientListName } from "@outreach/backoffice/recipients/OutcomeReader"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect, Struct } from "effect"
import { Chips, LinkLine } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"

/** Returns the URL of a list of a campaign's recipients. */
export const recipientsOf = (campaignId: string, outcome: RecipientListName): string =>
  `/campaigns/${campaignId}/recipients?outcome=${outcome}`

const readCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const { name, organizationId } = yield* (yield* CampaignRepository).find(campaignId)
  return { name, totals: yield* (yield* CampaignReader).totals({ organizationId, campaignId }) }
})

/** A campaign's recipients by outcome, with masked NPIs and addresses. */
export const recipientsPages = listPage("/campaigns/:campaign/recipients", recipients, {
  showLabel: "Show NPIs and addresses",
  reveals: exportOutcomes,
  read: ({ filter: { campaignId } }) => readCampaign(campaignId),
  around: ({ filter: { campaignId, outcome = "imported" }, name, totals, isShown }) => {
    const countOf = (each: RecipientListName) => {
      const { label, total } = RECIPIENT_LISTS[each]
      return `${label}: ${formatCount(totals[total])}`
    }
    const chips = Struct.keys(RECIPIENT_LISTS).map((each) => ({
      text: countOf(each),
      to: recipientsOf(campaignId, each),
      isChosen: each === outcome,
    }))
    return {
      title: foreign`Recipients of ${name}`,
      command: ops("recipients export", { campaign: campaignId, out: "outcomes.csv", reveal: isShown }),
      controls: { outcome: false },
      above: (
        <>
          <Chips label="Outcomes" chips={chips} />
          <h2>{countOf(outcome)}</h2>
        </>
      ),
      below: <LinkLine to={`/campaigns/${campaignId}`}>Back to the campaign</LinkLine>,
    }
  },
})
