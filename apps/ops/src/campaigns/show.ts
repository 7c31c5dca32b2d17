import { describeProgress } from "@outreach/backoffice/campaigns/describeProgress"
import { formatCount, formatCounted } from "@outreach/backoffice/format"
import type { showCampaign } from "@outreach/backoffice/operations/campaignReports"
import type { Campaign, CampaignProgress } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { COMPLAINT_LEVELS } from "@outreach/domain/campaigns/complaintLevel"
import type { CampaignId } from "@outreach/domain/Identifier"
import { describeRamp } from "@outreach/domain/senders/Ramp"
import { drawBar, progressLine } from "@outreach/process/progress"
import { Effect } from "effect"
import { formatRecord, formatRows, Output } from "../output/Output.ts"

type ShownCampaign = Effect.Success<ReturnType<typeof showCampaign.run>>

export const formatCampaign = (shown: ShownCampaign): ReadonlyArray<string> => {
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
export const followCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
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
