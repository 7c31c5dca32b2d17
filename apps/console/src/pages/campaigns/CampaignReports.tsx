import { type CampaignHour, CampaignReader, type CampaignTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { explainUnsent } from "@outreach/backoffice/campaigns/explainUnsent"
import { describeProgress, SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { consistentRead } from "@outreach/backoffice/consistentRead"
import { formatCount, formatShare } from "@outreach/backoffice/format"
import { CAMPAIGN_TONES } from "@outreach/backoffice/operations/campaignReports"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { RecipientListName } from "@outreach/backoffice/recipients/OutcomeReader"
import { type CampaignStatus, CLOSED } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { checkCampaign } from "@outreach/domain/campaigns/Preflights"
import type { PreflightCheck } from "@outreach/domain/campaigns/preflight"
import type { CampaignId } from "@outreach/domain/Identifier"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { TestMailSettings } from "@outreach/mail/smtpSettings"
import { Effect } from "effect"
import { Advice, Findings } from "../../components/Findings.tsx"
import { Funnel } from "../../components/Funnel.tsx"
import { Histogram, HOUR_MS } from "../../components/Histogram.tsx"
import { Commas, Section, Table } from "../../components/layout.tsx"
import { Code, ForeignText, foreign, Prose, StatusBadge, Time } from "../../components/values.tsx"
import { listCountedBy, recipientsOf } from "./campaignsPages.tsx"
import { MAX_DOMAINS } from "./DomainTables.tsx"

/** Reads a campaign, its progress and the reason why it doesn't send, and checks it until it is closed. */
export const readCampaign = Effect.fnUntraced(function* (campaignId: CampaignId, now: number) {
  const found = yield* consistentRead(readRows(campaignId))
  // The checks query name servers.
  const checks = CLOSED.includes(found.campaign.status) ? [] : yield* checkCampaign(campaignId)
  const { progress, failures } = found.sending
  const cause = explainUnsent(found.sending, now)
  return { ...found, progress, failures, cause, checks, canSendTest: (yield* yield* TestMailSettings) !== null }
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

type CampaignView = Effect.Success<ReturnType<typeof readCampaign>>

export const CampaignStatusBadge = ({ status }: { readonly status: CampaignStatus }) => (
  <StatusBadge tone={CAMPAIGN_TONES[status]}>{status}</StatusBadge>
)

export const CampaignProgressBar = (props: {
  readonly progress: CampaignView["progress"]
  readonly campaign: Pick<CampaignView["campaign"], "id">
}) => {
  const { progress, campaign } = props
  const { share, pace, counts } = describeProgress(progress)
  const shown = counts.map(({ name, text }) => {
    const list = listCountedBy(name)
    return list === undefined ? text : { to: recipientsOf(campaign.id, list), name: text }
  })
  return (
    <>
      <progress max={1000} value={Math.round(share * 1000)} aria-label={`${formatShare(share)} of the recipients`} />
      <p>
        {[`${formatShare(share)} done`, ...pace].join(" · ")}
        <br />
        <small>
          <Commas of={shown} /> of{" "}
          <a href={recipientsOf(campaign.id, "imported")}>{formatCount(progress.recipients)} imported</a>
        </small>
      </p>
    </>
  )
}

/** Minimum number of shown hours, so that one hour isn't as wide as the page. */
const MIN_HOURS = 12

export const CampaignFunnel = ({ totals, campaign }: Pick<CampaignView, "totals" | "campaign">) => {
  const { recipients, withdrawn, published, sent, accounts, learners, completers } = totals
  const withBots = (count: number) => `${formatCount(count)} with suspected bots`
  const later = "after the e-mail was sent"
  const to = (list: RecipientListName) => recipientsOf(campaign.id, list)
  const steps = [
    { label: "imported", count: recipients, note: `${formatCount(withdrawn)} withdrawn`, to: to("imported") },
    { label: "published", count: published, to: to("published") },
    { label: "sent", count: sent, note: notReached(totals), to: to("sent") },
    { label: "opened", count: totals.unsuspectedOpened, note: withBots(totals.opened), to: to("opened") },
    { label: "clicked", count: totals.unsuspectedClicked, note: withBots(totals.clicked), to: to("clicked") },
    { label: "account created", count: accounts, note: later, to: to("account_created") },
    { label: "learner", count: learners, note: later, to: to("learner_qualified") },
    { label: "completer", count: completers, note: later, to: to("completer_qualified") },
  ]
  return (
    <Section title="Funnel">
      <Funnel
        title="Recipients"
        steps={recipients === 0 ? [] : steps}
        empty={
          <>
            No recipients yet. <a href={`/campaigns/${campaign.id}/imports`}>Import a list of clinicians</a>
          </>
        }
      />
    </Section>
  )
}

const notReached = ({ bounced, refusedLater }: CampaignTotals): string =>
  `${formatCount(bounced)} bounced${refusedLater > 0 ? `; ${formatCount(refusedLater)} rejected later` : ""}`

export const CampaignHours = ({ hours }: { readonly hours: ReadonlyArray<CampaignHour> }) => {
  const startOf = (each: CampaignHour | undefined) => (each === undefined ? 0 : toUnixMillis(each.hour))
  const to = startOf(hours.at(-1)) + HOUR_MS
  return (
    <>
      <h2>Sent over time</h2>
      <Histogram
        title="E-mails by hour"
        series={{ sent: ["good", ({ sent }) => sent], bounced: ["bad", ({ bounced }) => bounced] }}
        rows={hours}
        at={({ hour }) => hour}
        from={Math.min(startOf(hours[0]), to - MIN_HOURS * HOUR_MS)}
        to={to}
        empty="No e-mails sent yet. Sending starts when the window opens."
      />
    </>
  )
}

export const CampaignProblems = ({ failures, quarantined, domains }: CampaignView) => {
  const paused = domains.filter(({ pausedUntil }) => pausedUntil !== null)
  const names = paused.slice(0, 5).map(({ domain }) => domain)
  if (failures.length + quarantined.length + paused.length === 0) return null
  return (
    <>
      <h2>Problems</h2>
      {paused.length > 0 && (
        <p class="problem">
          {paused.length === 1
            ? "A domain rejects our e-mails"
            : `${formatCount(paused.length)} domains reject our e-mails`}
          :{" "}
          <a href="#domains">
            <ForeignText>{names.join(", ")}</ForeignText>
          </a>
          . Sending to it resumes automatically.
        </p>
      )}
      <Table
        caption="Pending messages by last reply, without errors of recipients"
        rows={failures}
        columns={{
          Class: ({ class: name }) => name,
          Code: ({ code }) => <Code>{code}</Code>,
          Messages: { number: ({ messages }) => messages },
        }}
      />
      <Table
        caption="Messages without retry: no reply, or a template error; the first 100"
        rows={quarantined}
        columns={{
          Recipient: ({ recipientId: id }) => ({ id }),
          Class: ({ class: name }) => name,
          Code: ({ code }) => <Code>{code}</Code>,
          "No reply": { number: ({ unknownOutcomes }) => unknownOutcomes },
          Since: ({ quarantinedAt }) => ({ at: quarantinedAt }),
        }}
      />
    </>
  )
}

/** Who paused or cancelled a campaign and why, or why it sends no e-mails, with the remedy. Empty while it sends. */
export const SendingLine = ({ cause, campaign: { status, stoppedAt, stoppedBy, stopReason } }: CampaignView) =>
  stoppedAt === null ? (
    cause && (
      <p class={cause.status === "ok" ? undefined : "problem"}>
        No e-mails are being sent. <Prose>{cause.found}</Prose> <Advice finding={cause} none="" />
      </p>
    )
  ) : (
    <p class={status === "paused" ? "problem" : undefined}>
      {status === "paused" ? "Paused" : "Cancelled"}
      {stoppedBy !== null && foreign` by ${stoppedBy}`} at <Time at={stoppedAt} />
      {stopReason === null ? "." : foreign`: ${stopReason}`}
    </p>
  )

const OF_PARTNER: ReadonlyArray<PreflightCheck["check"]> = ["endpoint", "signing_secret"]

export const PreflightList = (props: {
  readonly checks: ReadonlyArray<PreflightCheck>
  readonly organizationId: string
}) => {
  const { checks, organizationId } = props
  if (checks.length === 0) return null
  const countOf = (status: PreflightCheck["status"]) => checks.filter((each) => each.status === status).length
  return (
    <>
      <h2 id="preflight">Preflight</h2>
      <p>
        {countOf("failed")} failed, {countOf("warning")} with warnings, {countOf("ok")} passed.
      </p>
      <Findings
        of={checks.map(({ check, ...finding }) => {
          const name = check.replaceAll("_", " ")
          return { ...finding, check: OF_PARTNER.includes(check) ? { id: organizationId, name } : name }
        })}
      />
    </>
  )
}
