import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { formatCount, formatCounted } from "@outreach/backoffice/format"
import { type Campaign, type CampaignProgress, countUnsent } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { COMPLAINT_LEVELS, complaintLevel, shareOfSent } from "@outreach/domain/campaigns/complaintLevel"
import { explainUnsent } from "@outreach/domain/campaigns/explainUnsent"
import { CampaignId } from "@outreach/domain/Identifier"
import { describeRamp } from "@outreach/domain/senders/Ramp"
import { formatFrom } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { drawBar, progressLine } from "@outreach/process/progress"
import { Clock, Effect } from "effect"
import { reading } from "../Declaration.ts"
import { onlySwitch } from "../inputs/Input.ts"
import { idArgument } from "../operationCommand.ts"
import { formatRecord, formatRows, Output } from "../output/Output.ts"

/** Number of shown causes and domains of late refusals. */
const MAX_LATE_REFUSALS = 50

export const show = reading({
  about: "Show a campaign's status and progress, and why messages were not sent",
  input: {
    campaignId: idArgument("campaignId", CampaignId),
    follow: onlySwitch("Show the progress until the campaign is over or paused; Ctrl-C changes nothing"),
  },
  *run({ campaignId, follow }) {
    if (follow) yield* followCampaign(campaignId)
    const repository = yield* CampaignRepository
    const { html, text, ...campaign } = yield* repository.find(campaignId)
    const sending = yield* SendingReader.use(({ find }) => find({ ...campaign, campaignId }))
    const { progress } = sending
    const sender = yield* SenderRepository.use(({ ofCampaign }) => ofCampaign(campaignId))
    return {
      ...campaign,
      // The reason why no e-mails are sent; null while they are.
      waitsFor: explainUnsent(sending, yield* Clock.currentTimeMillis)?.found ?? null,
      rates: ratesOf(progress),
      // Null for the deployment's sender, MAIL_FROM.
      senderId: sender?.id ?? null,
      from: sender && formatFrom(sender),
      ramp: sender?.ramp ?? null,
      ...{ html, text, progress },
      pauses: yield* repository.pauses(campaignId),
      lateRefusals: yield* CampaignReader.use(({ lateRefusals }) =>
        lateRefusals({ ...campaign, campaignId }, MAX_LATE_REFUSALS),
      ),
      failures: yield* repository.failures(campaignId),
      quarantined: yield* repository.quarantined(campaignId),
    }
  },
  format: ({ html, text, progress, rates, pauses, lateRefusals, failures, quarantined, ...campaign }) =>
    [
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
    ].flat(),
})

/** Returns the shares of late refusals, complaints and unsubscriptions among the accepted messages. */
const ratesOf = (progress: CampaignProgress) => ({
  complained: shareOfSent(progress.complained, progress),
  complaintLevel: complaintLevel(progress),
  unsubscribed: shareOfSent(progress.unsubscribed, progress),
  refusedLater: shareOfSent(progress.refusedLater, progress),
})

const formatRates = (progress: CampaignProgress, rates: ReturnType<typeof ratesOf>) =>
  progress.sent === 0
    ? []
    : [
        `Of ${formatCounted(progress.sent, "accepted message")}: complaints ${formatPercent(rates.complained)} (${COMPLAINT_LEVELS[rates.complaintLevel]}), ` +
          `unsubscribed ${formatPercent(rates.unsubscribed)}, refused later ${formatPercent(rates.refusedLater)}`,
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
  const { recipients, withdrawn, quarantined, answered, sentInLastMinute } = progress
  const wanted = recipients - withdrawn - quarantined
  const share = wanted <= 0 ? 0 : Math.min(1, answered / wanted)
  const rate = sentInLastMinute === 0 ? [] : [`${formatCount(sentInLastMinute)} a minute`]
  const left = countUnsent(progress)
  const time = left > 0 && sentInLastMinute > 0 ? [`${formatMinutes(left / sentInLastMinute)} left`] : []
  const counts = (
    [
      "sent",
      "bounced",
      "refusedLater",
      "complained",
      "unsubscribed",
      "deferred",
      "unknown",
      "quarantined",
      "withdrawn",
    ] as const
  ).flatMap((name) =>
    progress[name] > 0 || name === "sent" || name === "bounced"
      ? [`${formatCount(progress[name])} ${name === "refusedLater" ? "refused later" : name}`]
      : [],
  )
  return [drawBar(share), ...rate, ...time, `${counts.join(", ")} of ${formatCount(recipients)}`].join(" · ")
}

const formatMinutes = (minutes: number): string => {
  if (minutes < 1) return "less than a minute"
  if (minutes < 120) return `${Math.ceil(minutes)} min`
  return minutes < 2880 ? `${Math.ceil(minutes / 60)} h` : `${Math.ceil(minutes / 1440)} d`
}
