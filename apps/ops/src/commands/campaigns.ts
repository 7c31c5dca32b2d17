import { describeProgress } from "@outreach/backoffice/campaigns/describeProgress"
import { formatCount, formatCounted } from "@outreach/backoffice/format"
import { campaigns as campaignList } from "@outreach/backoffice/lists/campaigns"
import { preflightCampaign, previewCampaign, showCampaign } from "@outreach/backoffice/operations/campaignReports"
import {
  cancelCampaign,
  createCampaign,
  pauseCampaign,
  resumeCampaign,
  scheduleCampaign,
  testCampaign,
  updateCampaign,
} from "@outreach/backoffice/operations/campaigns"
import type { Campaign, CampaignProgress } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotReady } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { COMPLAINT_LEVELS } from "@outreach/domain/campaigns/complaintLevel"
import { failedChecks, type PreflightCheck } from "@outreach/domain/campaigns/preflight"
import type { CampaignId } from "@outreach/domain/Identifier"
import { describeRamp } from "@outreach/domain/senders/Ramp"
import { preflightSettings, TestMailSettings } from "@outreach/mail/smtpSettings"
import { drawBar, progressLine } from "@outreach/process/progress"
import { Effect } from "effect"
import { command, withRun } from "../command.ts"
import { group } from "../group.ts"
import { formatFinding, formatRecord, formatRows, Output, print } from "../output/Output.ts"

const show = withRun(showCampaign, (input, operator) =>
  Effect.andThen(input.follow ? followCampaign(input.campaignId) : Effect.void, showCampaign.run(input, operator)),
)

/** Fails if a check fails, after it has printed them. */
const preflight = withRun(
  preflightCampaign,
  Effect.fnUntraced(function* (input, operator) {
    const found = yield* preflightCampaign.run(input, operator)
    const { campaignId, checks } = found
    const failed = failedChecks(checks)
    if (failed.length === 0) return found
    if ((yield* Output) !== "json") yield* print(found, () => formatChecks(checks))
    return yield* new CampaignNotReady({ campaignId, failed, checks })
  }),
)

const formatChecks = (checks: ReadonlyArray<PreflightCheck>) =>
  checks.map(({ check, ...finding }) => formatFinding(`${check}: `, finding)).join("\n")

type ShownCampaign = Effect.Success<ReturnType<typeof showCampaign.run>>

const formatCampaign = (shown: ShownCampaign): ReadonlyArray<string> => {
  const { html, text, progress, rates, pauses, lateRefusals, failures, quarantined, ...campaign } = shown
  return [
    formatRecord({ ...campaign, ramp: describeRamp(campaign.ramp), ...progress }),
    formatProgress(progress),
    formatRates(progress, rates),
    section("Domains that refuse us, and when sending to them resumes:", pauses, ["domain", "status", "until"]),
    section(
      "Messages that were accepted and refused later, by cause, and then by domain:",
      lateRefusals.map((row) => ({ ...row, domain: row.domain ?? "all" })),
      ["cause", "domain", "messages"],
    ),
    section("Messages that were not sent, by SMTP reply, for reasons other than the recipient:", failures, [
      "class",
      "code",
      "messages",
    ]),
    section(
      "Messages that are not retried: without a reply from the mail server, or not rendered (template); the first 100:",
      quarantined,
      ["recipientId", "token", "unknownOutcomes", "class", "code", "quarantinedAt"],
    ),
  ].flat()
}

const formatRates = (progress: CampaignProgress, rates: ShownCampaign["rates"]) =>
  progress.sent === 0
    ? []
    : [
        `Of ${formatCounted(progress.sent, "accepted message")}: complaints ${formatPercent(rates.complained)} (${COMPLAINT_LEVELS[rates.complaintLevel]}), ` +
          `unsubscribed ${formatPercent(rates.unsubscribed)}, rejected later ${formatPercent(rates.refusedLater)}`,
      ]

const formatPercent = (share: number | null) => `${formatCount((share ?? 0) * 100)} %`

const section = <Row extends object>(
  title: string,
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<keyof Row & string>,
) => (rows.length === 0 ? [] : [`${title}\n${formatRows(rows, columns)}`])

const IDLE_STATUSES: ReadonlyArray<Campaign["status"]> = ["completed", "paused", "cancelled", "draft"]

/** Prints a campaign's progress to standard error until sending ends, but not with JSON output. */
const followCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const campaigns = yield* CampaignRepository
  const line = (yield* Output) === "json" ? undefined : yield* progressLine
  while (true) {
    const { status } = yield* campaigns.find(campaignId)
    yield* line?.show(`${status} · ${formatProgress(yield* campaigns.progress(campaignId))}`) ?? Effect.void
    if (IDLE_STATUSES.includes(status)) break
    yield* Effect.sleep("1 second")
  }
}, Effect.scoped)

/** Formats a campaign's progress: a bar of the recipients with an outcome, the rate, the remaining time, and the counts by outcome. */
const formatProgress = (progress: CampaignProgress): string => {
  const { share, pace, counts } = describeProgress(progress)
  const outcomes = counts.map(({ text }) => text).join(", ")
  return [drawBar(share), ...pace, `${outcomes} of ${formatCount(progress.recipients)}`].join(" · ")
}

const services = { services: preflightSettings }

export const campaigns = group("campaigns", "E-mails to lists of recipients", [
  createCampaign,
  command(preflight, { format: ({ checks }) => formatChecks(checks), ...services }),
  command(scheduleCampaign, services),
  pauseCampaign,
  command(resumeCampaign, services),
  updateCampaign,
  cancelCampaign,
  campaignList,
  command(show, { format: formatCampaign }),
  previewCampaign,
  command(testCampaign, { services: TestMailSettings.fromEnvironment }),
])
