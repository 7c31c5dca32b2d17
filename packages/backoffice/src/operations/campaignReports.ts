import type { Campaign, CampaignProgress, CampaignStatus } from "@outreach/domain/campaigns/Campaign"
import { COMPLAINT_LEVELS, complaintLevel, shareOfSent } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotReady, CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { findUnrendered } from "@outreach/domain/campaigns/Preflights"
import { draftSteps, failedChecks } from "@outreach/domain/campaigns/preflight"
import { DescribedError } from "@outreach/domain/DescribedError"
import { CampaignId } from "@outreach/domain/Identifier"
import { describeRamp, formatFrom } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { optionalMailFrom } from "@outreach/mail/smtpSettings"
import { drawBar } from "@outreach/process/progress"
import { publicBaseUrl } from "@outreach/process/settings"
import { Clock, Effect, FileSystem, Path, Schema, Struct } from "effect"
import { CampaignReader, type CampaignWithTotals, campaignFilters } from "../campaigns/CampaignReader.ts"
import { explainUnsent } from "../campaigns/explainUnsent.ts"
import { describeProgress, SendingReader } from "../campaigns/SendingReader.ts"
import { formatCount, formatCounted } from "../format.ts"
import { formatCommand } from "../formatCommand.ts"
import { throwawaySeal } from "../hits/throwawaySeal.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { checkBox, field, withDefault } from "./Field.ts"
import { badge, count, id, inOps, list, type Tones, text } from "./List.ts"
import { operation, type Part, rowsPart } from "./Operation.ts"

export const CAMPAIGN_TONES: Tones<CampaignStatus> = { sending: "good", paused: "warning" }

export const toCampaignRow = (campaign: CampaignWithTotals) => ({
  ...campaign,
  ...Struct.pick(campaign.totals, ["recipients", "sent", "complained", "unsubscribed"]),
  complaintLevel: complaintLevel(campaign.totals),
})

const botNote = (unsuspected: number, all: number): string =>
  all === unsuspected ? "" : `${formatCount(all)} with bots`

export const campaigns = list("campaigns list", {
  about: "List campaigns, newest first, with their counts",
  filters: campaignFilters,
  cursor: { id: CampaignId },
  *read(filter, { limit, after, direction }) {
    const rows = yield* (yield* CampaignReader).list({ ...filter, after, direction }, limit + 1)
    return rows.map(toCampaignRow)
  },
  columns: {
    id: { ...id("Campaign"), sort: "desc" },
    programId: id("Program"),
    organizationId: { ...id("Organization"), isOfConsole: true },
    ...inOps("name", "kind"),
    status: badge("Status", CAMPAIGN_TONES),
    recipients: count("Imported"),
    published: { ...count("Published"), isOfConsole: true, value: ({ totals }) => totals.published },
    sent: count("Sent"),
    bounced: { ...count("Bounced"), isOfConsole: true, value: ({ totals }) => totals.bounced },
    opened: {
      ...count("Opened"),
      isOfConsole: true,
      value: ({ totals }) => totals.unsuspectedOpened,
      note: ({ totals }) => botNote(totals.unsuspectedOpened, totals.opened),
    },
    clicked: {
      ...count("Clicked"),
      isOfConsole: true,
      value: ({ totals }) => totals.unsuspectedClicked,
      note: ({ totals }) => botNote(totals.unsuspectedClicked, totals.clicked),
    },
    complained: count("Complained"),
    ...inOps("complaintLevel", "unsubscribed"),
    windowStart: text("Window"),
    ...inOps("windowEnd"),
    perMinute: {
      ...count("Rate"),
      isOfConsole: true,
      shown: ({ perMinute }) => (perMinute === null ? null : `${formatCount(perMinute)} a minute`),
    },
  },
  empty: "No campaigns.",
  filledBy: "campaigns create",
})

// Loaded when needed, because they load the libraries that render messages.
const preflights = Effect.promise(() => import("@outreach/domain/campaigns/Preflights"))
const previews = Effect.promise(() => import("@outreach/mail/previewMail"))

const of = { campaignId: CampaignId }

export const preflightCampaign = operation("campaigns preflight", {
  access: "reads",
  about:
    "Check whether a campaign can be sent: recipients, window, rate, sender, required content, quota, endpoint and secret",
  of,
  *run({ campaignId }) {
    const { status } = yield* CampaignRepository.use(({ find }) => find(campaignId))
    const checks = yield* (yield* preflights).checkCampaign(campaignId)
    const next = status === "draft" ? draftSteps(campaignId, checks).find(({ isNext }) => isNext) : undefined
    // The command of the next step of a draft; null for other campaigns.
    return { campaignId, checks, next: next ? formatCommand(["ops", ...next.command]) : null }
  },
  show: ({ checks, next }) => [{ checks }, ...(next === null ? [] : [`Next step: ${next}`])],
  failure: ({ campaignId, checks }) => {
    const failed = failedChecks(checks)
    return failed.length === 0 ? undefined : new CampaignNotReady({ campaignId, failed, checks })
  },
})

/** Number of shown causes and domains of late refusals. */
const MAX_LATE_REFUSALS = 50

/** Describes a campaign's progress: a bar of the recipients with an outcome, the rate, the remaining time, and the counts by outcome. */
const progressText = (progress: CampaignProgress): string => {
  const { share, pace, counts } = describeProgress(progress)
  const outcomes = counts.map(({ text }) => text).join(", ")
  return [drawBar(share), ...pace, `${outcomes} of ${formatCount(progress.recipients)}`].join(" · ")
}

const IDLE_STATUSES: ReadonlyArray<Campaign["status"]> = ["completed", "paused", "cancelled", "draft"]

/** Shows a campaign's progress until sending ends. */
const followCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const { find, progress } = yield* CampaignRepository
  const line = yield* (yield* TaskProgress).line
  while (true) {
    const { status } = yield* find(campaignId)
    yield* line.show(`${status} · ${progressText(yield* progress(campaignId))}`)
    if (IDLE_STATUSES.includes(status)) break
    yield* Effect.sleep("1 second")
  }
}, Effect.scoped)

const percent = (share: number | null) => `${formatCount((share ?? 0) * 100)} %`

const section = <Row extends object>(
  title: string,
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<keyof Row & string>,
): ReadonlyArray<Part> => (rows.length === 0 ? [] : [rowsPart(rows, columns, title)])

export const showCampaign = operation("campaigns show", {
  access: "reads",
  about: "Show a campaign's status and progress, and why messages were not sent",
  of,
  input: { follow: checkBox("Show the progress until the campaign is over or paused; Ctrl-C changes nothing") },
  *run({ campaignId, follow }) {
    if (follow) yield* followCampaign(campaignId)
    const repository = yield* CampaignRepository
    const { html, text, ...campaign } = yield* repository.find(campaignId)
    const key = { ...campaign, campaignId }
    const sending = yield* SendingReader.use(({ find }) => find(key))
    const { progress } = sending
    const sender = yield* SenderRepository.use(({ ofCampaign }) => ofCampaign(campaignId))
    return {
      ...campaign,
      // The reason why no e-mails are sent; null while they are.
      waitsFor: explainUnsent(sending, yield* Clock.currentTimeMillis)?.found ?? null,
      // The shares of the accepted messages.
      rates: {
        complained: shareOfSent(progress.complained, progress),
        complaintLevel: complaintLevel(progress),
        unsubscribed: shareOfSent(progress.unsubscribed, progress),
        refusedLater: shareOfSent(progress.refusedLater, progress),
      },
      // Null for the deployment's sender, MAIL_FROM.
      senderId: sender?.id ?? null,
      from: sender && formatFrom(sender),
      ramp: sender?.ramp ?? null,
      ...{ html, text, progress },
      pauses: sending.pauses,
      lateRefusals: yield* CampaignReader.use(({ lateRefusals }) => lateRefusals(key, MAX_LATE_REFUSALS)),
      failures: sending.failures,
      quarantined: yield* repository.quarantined(campaignId),
    }
  },
  show: ({ html, text, progress, rates, pauses, lateRefusals, failures, quarantined, ...campaign }) => [
    { fields: { ...campaign, ramp: describeRamp(campaign.ramp), ...progress } },
    progressText(progress),
    ...(progress.sent === 0
      ? []
      : [
          `Of ${formatCounted(progress.sent, "accepted message")}: complaints ${percent(rates.complained)} (${COMPLAINT_LEVELS[rates.complaintLevel]}), ` +
            `unsubscribed ${percent(rates.unsubscribed)}, rejected later ${percent(rates.refusedLater)}`,
        ]),
    ...section("Domains that refuse us, and when sending to them resumes:", pauses, ["domain", "status", "until"]),
    ...section(
      "Messages that were accepted and refused later, by cause, and then by domain:",
      lateRefusals.map((row) => ({ ...row, domain: row.domain ?? "all" })),
      ["cause", "domain", "messages"],
    ),
    ...section("Messages that were not sent, by SMTP reply, for reasons other than the recipient:", failures, [
      "class",
      "code",
      "messages",
    ]),
    ...section(
      "Messages that are not retried: without a reply from the mail server, or not rendered (template); the first 100:",
      quarantined,
      ["recipientId", "token", "unknownOutcomes", "class", "code", "quarantinedAt"],
    ),
  ],
})

class UnusableFolder extends DescribedError("FolderUnusable", "The folder {folder} cannot be written to.") {}

export const previewCampaign = operation("campaigns preview", {
  access: "reveals",
  about: "Write a campaign's e-mail to an .eml and an .html file without sending it",
  of,
  input: {
    recipient: field(Schema.String, "The token of a recipient of the campaign (default a placeholder)"),
    out: withDefault(field(Schema.String, "The folder for the files, which are named after the campaign"), "."),
    check: checkBox(
      "Don't write files; list the recipients whose e-mail doesn't render: a field is missing, or a link isn't http, https or mailto",
    ),
  },
  *run({ campaignId, recipient, out, check }) {
    const campaign = yield* CampaignRepository.use(({ find }) => find(campaignId))
    if (check) return yield* checkRendering(campaign)
    const { writeFile, writeFileString, makeDirectory } = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const settings = { publicBaseUrl: yield* publicBaseUrl, mailFrom: yield* optionalMailFrom }
    const { previewMail } = yield* previews
    const { subject, html, eml } = yield* Effect.provide(previewMail(campaign, recipient, settings), throwawaySeal)
    const file = (ending: string) => join(out, `${campaign.id}${ending}`)
    const files = { eml: file(".eml"), html: file(".html") }
    yield* makeDirectory(out, { recursive: true }).pipe(
      Effect.andThen(writeFile(files.eml, eml)),
      Effect.andThen(writeFileString(files.html, html)),
      Effect.mapError(() => new UnusableFolder({ folder: out })),
    )
    return { subject, ...files }
  },
})

const MAX_UNRENDERED_SHOWN = 100

class RecipientsNotRendered extends DescribedError(
  "RecipientsNotRendered",
  ({ unrendered, checked }: Effect.Success<ReturnType<typeof findUnrendered>> & { readonly campaignId: CampaignId }) =>
    `The e-mails of ${unrendered} of ${checked} recipients do not render. Import their lines again with the fields that are named; without them, nothing is sent to these recipients.`,
) {}

const checkRendering = Effect.fnUntraced(function* (campaign: Campaign) {
  const { warn } = yield* TaskProgress
  const { first, ...counts } = yield* (yield* preflights).findUnrendered(campaign, MAX_UNRENDERED_SHOWN)
  const found = { campaignId: campaign.id, ...counts }
  if (counts.unrendered === 0) return found
  for (const { token, reason } of first) yield* warn(`recipient ${token}: ${reason}`)
  return yield* new RecipientsNotRendered({ ...found, first })
})
