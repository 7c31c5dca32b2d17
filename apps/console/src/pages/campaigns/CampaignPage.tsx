import { formatCount } from "@outreach/backoffice/format"
import {
  cancelCampaign,
  describePause,
  duplicateCampaign,
  pauseCampaign,
  resumeCampaign,
  scheduleCampaign,
  testCampaign,
  updateCampaign,
} from "@outreach/backoffice/operations/campaigns"
import type { Plan } from "@outreach/backoffice/operations/Operation"
import { type CampaignStatus, CLOSED, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { Effect, Struct } from "effect"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, Page, Section } from "../../components/layout.tsx"
import { ForeignText, IdLink, pageOf, senderLink } from "../../components/values.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import {
  CampaignFunnel,
  CampaignHours,
  CampaignProblems,
  CampaignProgressBar,
  CampaignStatusBadge,
  PreflightList,
  readCampaign,
  SendingLine,
} from "./CampaignReports.tsx"
import { feedbackFacts, recipientsOf, SendingWindow } from "./campaignsPages.tsx"
import { DomainTables } from "./DomainTables.tsx"
import { DraftSteps } from "./DraftSteps.tsx"

const page = definePage("/campaigns/:campaign", {
  isConsistent: false,
  run: Effect.fnUntraced(function* ({ campaign: id }, { now }) {
    const view = yield* readCampaign(id, now)
    const { campaign, checks, totals, sender } = view
    const { status } = campaign
    const { program } = view.summaries.get(id)!
    const { day, sentToday, allowedToday = null } = sender?.ramp ?? {}
    const isOpen = !CLOSED.includes(status)
    const isDraft = status === "draft"
    const preflight = <PreflightList checks={checks} organizationId={campaign.organizationId} />
    // For a running campaign, the counts come before the checks.
    const isToCome = status === "draft" || status === "scheduled"
    const params = { campaign: id }
    const change = { params, found: { ...campaign, layout: "none" as const }, controls: UNGROUPED }
    return (
      <Page
        title={<ForeignText>{campaign.name}</ForeignText>}
        state={<CampaignStatusBadge status={status} />}
        id={id}
        commands={[
          ["campaigns show", id],
          ["recipients export", { campaign: id, out: "outcomes.csv" }],
          isOpen && ["campaigns preflight", id],
          isOpen && ["campaigns test", id, { to: "me@acme.example" }],
          isDraft && ["campaigns update", id, { html: "mail.html" }],
          ["campaigns duplicate", id],
          isDraft && ["campaigns schedule", id],
          isPossible("pause", status) && ["campaigns pause", id],
          isPossible("resume", status) && ["campaigns resume", id],
        ]}
      >
        <SendingLine {...view} />
        {isDraft ? (
          <DraftSteps
            campaignId={id}
            checks={checks}
            actions={{
              ...(view.canSendTest && {
                test: (isPrimary) => <ActionForm action={sendTest} params={params} isPrimary={isPrimary} />,
              }),
              schedule: (isPrimary) => <ConfirmLink page={schedule[0]} params={params} isPrimary={isPrimary} />,
            }}
          />
        ) : (
          <CampaignProgressBar {...view} />
        )}
        <div class="actions">
          {isPossible("pause", status) && <ActionForm action={pause} params={params} isPrimary />}
          {isPossible("resume", status) && <ConfirmLink page={resume[0]} params={params} isPrimary />}
          {isPossible("cancel", status) && <ConfirmLink page={cancel[0]} params={params} isDangerous />}
          {isOpen && !isDraft && <ActionForm action={changeRate} {...change} label="Change the rate" />}
          {isOpen && !isDraft && <ActionForm action={changePause} {...change} label="Change the complaint pause" />}
          {view.canSendTest && !isDraft && <ActionForm action={sendTest} params={params} />}
          <ActionForm action={duplicate} params={params} />
        </div>
        <CampaignProblems {...view} />
        {isToCome && preflight}
        <div class="halves">
          {!isDraft && <CampaignFunnel {...view} />}
          <Section title="Facts">
            <Facts
              facts={{
                Organization: view.organization,
                Program: (
                  <>
                    <IdLink id={program.id}>{program.name}</IdLink> ({program.status})
                  </>
                ),
                Kind: campaign.kind,
                Window: <SendingWindow {...campaign} />,
                Rate: campaign.perMinute === null ? "unlimited" : `${formatCount(campaign.perMinute)} a minute`,
                From: sender === null ? "the deployment's sender" : senderLink(sender),
                Ramp:
                  allowedToday !== null &&
                  `day ${day}: ${formatCount(sentToday ?? 0)} of ${formatCount(allowedToday)} sent today`,
                Subject: campaign.subject,
                ...(!isDraft && feedbackFacts(totals)),
                "Pause on complaints": describePause(campaign.pauseOnComplaints),
              }}
            />
            <p>
              <a href={recipientsOf(id, "imported")}>Recipients</a>, <a href={`/campaigns/${id}/imports`}>imports</a>,
              and its <a href={`/events?campaign=${id}`}>events</a>.
            </p>
            <p>
              <a href={`/campaigns/${id}/mail`}>Preview the e-mail</a> as HTML, as text and on a phone.
            </p>
          </Section>
        </div>
        {!isDraft && <CampaignHours hours={view.hours} />}
        {!isDraft && <DomainTables {...view} />}
        {!isToCome && preflight}
      </Page>
    )
  }),
})

const isPossible = (move: keyof typeof TRANSITIONS, status: CampaignStatus): boolean =>
  TRANSITIONS[move].from.some((from) => from === status)

const path = "/campaigns/:campaign"
const only = (kept: string) => ({ omit: Struct.keys(updateCampaign.input).filter((key) => key !== kept) })
const changeRate = operationAction(`${path}/rate`, updateCampaign, only("perMinute"))
const changePause = operationAction(`${path}/complaints`, updateCampaign, only("pauseOnComplaints"))
const UNGROUPED = { "per-minute": { group: "" }, "pause-on-complaints": { group: "" } }
const duplicate = operationAction(`${path}/duplicate`, duplicateCampaign, {
  omit: ["name"],
  to: (_, { id }) => pageOf(id),
})
const sendTest = operationAction(`${path}/test`, testCampaign)
// Pausing can be undone, so it needs no confirmation.
const pause = operationAction(`${path}/pause`, pauseCampaign, { requires: ["reason"] })
const cancel = operationConfirmation(`${path}/cancel`, cancelCampaign, { requires: ["reason"] })

// Its checks query name servers.
const launching = {
  isConsistent: false,
  children: ({ checks = [], affects }: Plan) => <PreflightList checks={checks} organizationId={affects.id} />,
}
const schedule = operationConfirmation(`${path}/schedule`, scheduleCampaign, launching)
const resume = operationConfirmation(`${path}/resume`, resumeCampaign, launching)

export const campaignRoutes = [
  page,
  changeRate,
  changePause,
  duplicate,
  sendTest,
  pause,
  ...schedule,
  ...resume,
  ...cancel,
]
