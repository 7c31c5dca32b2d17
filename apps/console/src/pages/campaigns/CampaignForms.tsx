import { type Campaign, CLOSED, countUnsent, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { formatCount } from "../../components/format.ts"
import { ActionForm, Field } from "../../components/forms.tsx"
import { useMayAct } from "../../components/View.ts"
import type { CampaignView } from "./CampaignPage.tsx"
import { cancelCampaign, changeCampaignRate, pauseCampaign, rateText, sendCampaignTest } from "./campaignActions.ts"

/** What an operator may do with a campaign in its status. */
export const CampaignForms = ({ campaign, progress, canSendTest }: CampaignView) => {
  const { id, name, status, perMinute } = campaign
  const unsent = `${formatCount(countUnsent(progress))} of ${formatCount(progress.recipients)}`
  const params = { campaign: id }
  const may = (from: ReadonlyArray<Campaign["status"]>) => from.includes(status)
  return (
    <>
      <div class="actions">
        {status === "draft" && <AskFirst address={`/campaigns/${id}/schedule`} label="Schedule…" />}
        {may(TRANSITIONS.pause.from) && <ActionForm action={pauseCampaign} params={params} label="Pause" />}
        {may(TRANSITIONS.resume.from) && <AskFirst address={`/campaigns/${id}/resume`} label="Resume…" />}
        {!CLOSED.includes(status) && (
          <ActionForm action={changeCampaignRate} params={params} label="Change the rate" version={rateText(perMinute)}>
            <Field name="per-minute" label="E-mails a minute, or none" value={rateText(perMinute)} size={10} required />
          </ActionForm>
        )}
        {canSendTest && (
          <ActionForm action={sendCampaignTest} params={params} label="Send a test">
            <Field name="to" label="Your own address" inputmode="email" size={24} required />
          </ActionForm>
        )}
      </div>
      {may(TRANSITIONS.cancel.from) && (
        <details>
          <summary>Cancel this campaign</summary>
          <p>It ends for good, and leaves {unsent} recipients without their e-mail. What was sent stays sent.</p>
          <ActionForm action={cancelCampaign} params={params} label="Cancel for good" isDangerous>
            <Field name="name" label="Type the campaign's name" placeholder={name} required />
          </ActionForm>
        </details>
      )}
    </>
  )
}

/** A button that leads to the page that asks. */
const AskFirst = (props: { readonly address: string; readonly label: string }) =>
  useMayAct("operator") ? (
    <form class="action" method="get" action={props.address}>
      <button type="submit">{props.label}</button>
    </form>
  ) : null
