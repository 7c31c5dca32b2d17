import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { consistentRead } from "@outreach/backoffice/consistentRead"
import { countOrNone, formatCount } from "@outreach/backoffice/format"
import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import { choice, field, required } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import {
  type Campaign,
  type CampaignStatus,
  CLOSED,
  type Command,
  TRANSITIONS,
} from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { changePauseOnComplaints, changeRate } from "@outreach/domain/campaigns/Campaigns"
import { explainUnsent } from "@outreach/domain/campaigns/explainUnsent"
import { checkCampaign } from "@outreach/domain/campaigns/Preflights"
import type { CampaignId } from "@outreach/domain/Identifier"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { formatFrom } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { sendTestMail } from "@outreach/mail/sendTestMail"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, Page, Section } from "../../components/layout.tsx"
import { type CommandWords, ops } from "../../components/ops.ts"
import { ForeignText, IdLink } from "../../components/values.tsx"
import { reject, rejectStale } from "../../http/PageError.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import {
  CampaignFunnel,
  CampaignHours,
  CampaignProgressBar,
  CampaignStatusBadge,
  CampaignTroubles,
  StopLine,
} from "./CampaignReports.tsx"
import { feedbackFacts } from "./ComplaintRate.tsx"
import { cancelRoutes, pauseCampaign, resumeRoutes, scheduleRoutes } from "./campaignConfirmations.tsx"
import { DomainTable, LateRefusals } from "./DomainTable.tsx"
import { PreflightList } from "./PreflightList.tsx"
import { recipientsOf } from "./recipientsPage.tsx"
import { SendingLine } from "./SendingLine.tsx"
import { SendingWindow } from "./SendingWindow.tsx"

const MAX_DOMAINS = 50

const campaignPage = definePage("/campaigns/:campaign", {
  isConsistent: false,
  run: ({ campaign }, { now }) => Effect.map(readCampaign(campaign, now), contentOf),
})

const readCampaign = Effect.fnUntraced(function* (campaignId: CampaignId, now: number) {
  const found = yield* consistentRead(readRows(campaignId))
  // The checks query name servers.
  const checks = CLOSED.includes(found.campaign.status) ? [] : yield* checkCampaign(campaignId)
  const { progress, failures } = found.sending
  const cause = explainUnsent(found.sending, now)
  return { ...found, progress, failures, cause, checks, canSendTest: (yield* ConsoleConfig).smtp !== null }
})

const readRows = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const repository = yield* CampaignRepository
  const reader = yield* CampaignReader
  const campaign = yield* repository.find(campaignId)
  const { organizationId } = campaign
  const key = { organizationId, campaignId }
  return {
    campaign,
    ...(yield* Effect.all({
      totals: reader.totals(key),
      sending: (yield* SendingReader).find(key),
      hours: reader.hours(key),
      domains: reader.domains(key, MAX_DOMAINS),
      lateRefusals: reader.lateRefusals(key, MAX_DOMAINS),
      quarantined: repository.quarantined(campaignId),
      organization: (yield* OrganizationReader).find(organizationId),
      summaries: repository.summaries(organizationId, [campaignId]),
      sender: (yield* SenderRepository).ofCampaign(campaignId),
    })),
  }
})

export type CampaignView = Effect.Success<ReturnType<typeof readCampaign>>

const contentOf = (view: CampaignView) => {
  const { campaign, checks, domains } = view
  const preflight = checks.length > 0 && <PreflightList checks={checks} organizationId={campaign.organizationId} />
  // For a running campaign, the counts come before the checks.
  const isToCome = campaign.status === "draft" || campaign.status === "scheduled"
  return (
    <Page
      title={<ForeignText>{campaign.name}</ForeignText>}
      state={<CampaignStatusBadge status={campaign.status} />}
      id={campaign.id}
      commands={commandsFor(campaign)}
    >
      {campaign.stoppedAt === null ? <SendingLine cause={view.cause} /> : <StopLine {...view} />}
      <CampaignProgressBar {...view} />
      <CampaignForms {...view} />
      <CampaignTroubles {...view} />
      {isToCome && preflight}
      <div class="halves">
        <CampaignFunnel {...view} />
        <Section title="Facts">
          <CampaignFacts {...view} />
          <p>
            <a href={recipientsOf(campaign.id, "imported")}>Recipients</a>,{" "}
            <a href={`/campaigns/${campaign.id}/imports`}>imports</a>, and its{" "}
            <a href={`/events?campaign=${campaign.id}`}>events</a>.
          </p>
          <p>
            <a href={`/campaigns/${campaign.id}/mail`}>Preview the e-mail</a> as HTML, as text and on a phone.
          </p>
        </Section>
      </div>
      <CampaignHours hours={view.hours} />
      <DomainTable domains={domains} limit={MAX_DOMAINS} />
      <LateRefusals refusals={view.lateRefusals} />
      {!isToCome && preflight}
    </Page>
  )
}

const CampaignFacts = ({ campaign, totals, summaries, organization, sender }: CampaignView) => {
  const { program } = summaries.get(campaign.id)!
  const { day, sentToday, allowedToday = null } = sender?.ramp ?? {}
  return (
    <Facts
      facts={{
        Organization: <IdLink id={organization.id}>{organization.name}</IdLink>,
        Program: (
          <>
            <IdLink id={program.id}>{program.name}</IdLink> ({program.status})
          </>
        ),
        Kind: campaign.kind,
        Window: <SendingWindow {...campaign} />,
        Rate: campaign.perMinute === null ? "unlimited" : `${formatCount(campaign.perMinute)} a minute`,
        From: sender === null ? "the deployment's sender" : <IdLink id={sender.id}>{formatFrom(sender)}</IdLink>,
        Ramp:
          allowedToday !== null &&
          `day ${day}: ${formatCount(sentToday ?? 0)} of ${formatCount(allowedToday)} sent today`,
        Subject: campaign.subject,
        ...feedbackFacts(totals),
        "Pause on complaints": pauseText(campaign.pauseOnComplaints),
      }}
    />
  )
}

const commandsFor = ({ id, status }: Pick<Campaign, "id" | "status">): ReadonlyArray<CommandWords> => {
  const moves = status === "draft" ? (["schedule"] as const) : (["pause", "resume"] as const)
  return [
    ops("campaigns show", id),
    ops("recipients export", { campaign: id, out: "outcomes.csv" }),
    ...(CLOSED.includes(status)
      ? []
      : [ops("campaigns preflight", id), ops("campaigns test", id, { to: "me@acme.example" })]),
    ...moves.filter((move) => isPossible(move, status)).map((move) => ops(`campaigns ${move}`, id)),
  ]
}

const isPossible = (command: Command, status: CampaignStatus): boolean =>
  TRANSITIONS[command].from.some((from) => from === status)

const CampaignForms = ({ campaign, canSendTest }: CampaignView) => {
  const { id, status, perMinute } = campaign
  const params = { campaign: id }
  return (
    <div class="actions">
      {status === "draft" && <ConfirmLink page={scheduleRoutes[0]} params={params} label="Schedule" isPrimary />}
      {isPossible("pause", status) && <ActionForm action={pauseCampaign} params={params} label="Pause" isPrimary />}
      {isPossible("resume", status) && <ConfirmLink page={resumeRoutes[0]} params={params} label="Resume" isPrimary />}
      {isPossible("cancel", status) && (
        <ConfirmLink page={cancelRoutes[0]} params={params} label="Cancel" isDangerous />
      )}
      {!CLOSED.includes(status) && (
        <ActionForm
          action={changeCampaignRate}
          params={params}
          label="Change the rate"
          version={countOrNone(perMinute)}
          controls={{ "per-minute": { value: countOrNone(perMinute) } }}
        />
      )}
      {!CLOSED.includes(status) && (
        <ActionForm
          action={changePauses}
          params={params}
          label="Change the complaint pause"
          controls={{ "pause-on-complaints": { value: campaign.pauseOnComplaints ? "yes" : "no" } }}
        />
      )}
      {canSendTest && <ActionForm action={sendTest} params={params} label="Send a test" />}
    </div>
  )
}

const changeCampaignRate = defineAction("/campaigns/:campaign/rate", "campaigns update", {
  role: "operator",
  inputs: {
    "per-minute": required(
      field(noneOr(wholeNumber(1, 1_000_000, "a number of e-mails")), "E-mails per minute, or none", { size: 10 }),
    ),
  },
  run: Effect.fnUntraced(function* ({ campaign, "per-minute": perMinute }, { version }) {
    const now = Effect.map((yield* CampaignRepository).find(campaign), (found) => ({
      Rate: countOrNone(found.perMinute),
    }))
    yield* rejectStale(now, { Rate: countOrNone(perMinute) })(changeRate(campaign, perMinute, version))
    return `Rate changed. ${perMinute === null ? "No limit." : `At most ${formatCount(perMinute)} e-mails a minute.`}`
  }),
})

const pauseText = (pausesOnComplaints: boolean) => (pausesOnComplaints ? "automatically at 0.3 %" : "manually")

const changePauses = defineAction("/campaigns/:campaign/complaints", "campaigns update", {
  role: "operator",
  inputs: {
    "pause-on-complaints": required(
      choice("Pause on complaints", [
        ["no", pauseText(false)],
        ["yes", pauseText(true)],
      ]),
    ),
  },
  run: Effect.fnUntraced(function* ({ campaign, "pause-on-complaints": pauses }) {
    yield* changePauseOnComplaints(campaign, pauses === "yes")
    return `Saved. The campaign is paused on complaints ${pauseText(pauses === "yes")}.`
  }),
})

/** Sends a test message to an address, which no log contains. */
const sendTest = defineAction("/campaigns/:campaign/test", "campaigns test", {
  role: "operator",
  inputs: { to: required(field(EmailAddress, "Your e-mail address", { inputmode: "email", size: 24 })) },
  run: Effect.fnUntraced(function* ({ campaign, to }) {
    const { smtp, publicBaseUrl } = yield* ConsoleConfig
    if (smtp === null) {
      return yield* reject(
        "NoMailServer",
        "The console can't send e-mail because SMTP_URL isn't set. Set SMTP_URL and MAIL_FROM to the worker's values, or send the test on the command line.",
      )
    }
    const found = yield* (yield* CampaignRepository).find(campaign)
    yield* sendTestMail(found, to, { ...smtp, publicBaseUrl }).pipe(Effect.provide(throwawaySeal))
    return "The mail server accepted the test message. Clicks on its links aren't recorded."
  }),
})

export const campaignRoutes = [
  campaignPage,
  changeCampaignRate,
  changePauses,
  sendTest,
  ...scheduleRoutes,
  ...resumeRoutes,
  pauseCampaign,
  ...cancelRoutes,
] as const
