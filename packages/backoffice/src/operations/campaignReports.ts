import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { complaintLevel, shareOfSent } from "@outreach/domain/campaigns/complaintLevel"
import type { findUnrendered } from "@outreach/domain/campaigns/UnrenderedRecipients"
import { DescribedError } from "@outreach/domain/DescribedError"
import { CampaignId } from "@outreach/domain/Identifier"
import { formatFrom } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { optionalMailFrom } from "@outreach/mail/smtpSettings"
import { publicBaseUrl } from "@outreach/process/settings"
import { Clock, Effect, FileSystem, Path, Schema } from "effect"
import { CampaignReader } from "../campaigns/CampaignReader.ts"
import { explainUnsent } from "../campaigns/explainUnsent.ts"
import { SendingReader } from "../campaigns/SendingReader.ts"
import { throwawaySeal } from "../hits/throwawaySeal.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { checkBox, field, withDefault } from "./Field.ts"
import { operation } from "./Operation.ts"

// Loaded when needed, because they load the libraries that render messages.
const preflights = Effect.promise(() => import("@outreach/domain/campaigns/Preflights"))
const unrendered = Effect.promise(() => import("@outreach/domain/campaigns/UnrenderedRecipients"))
const previews = Effect.promise(() => import("@outreach/mail/previewMail"))

const of = { campaignId: CampaignId }

export const preflightCampaign = operation("campaigns preflight", {
  access: "reads",
  about:
    "Check whether a campaign can be sent: recipients, window, rate, sender, required content, quota, endpoint and secret",
  of,
  run: Effect.fnUntraced(function* ({ campaignId }) {
    return { campaignId, checks: yield* (yield* preflights).checkCampaign(campaignId) }
  }),
})

/** Number of shown causes and domains of late refusals. */
const MAX_LATE_REFUSALS = 50

export const showCampaign = operation("campaigns show", {
  access: "reads",
  about: "Show a campaign's status and progress, and why messages were not sent",
  of,
  input: { follow: checkBox("Show the progress until the campaign is over or paused; Ctrl-C changes nothing") },
  run: Effect.fnUntraced(function* ({ campaignId }) {
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
  }),
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
  run: Effect.fnUntraced(function* ({ campaignId, recipient, out, check }) {
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
  }),
})

const MAX_UNRENDERED_SHOWN = 100

class RecipientsNotRendered extends DescribedError(
  "RecipientsNotRendered",
  ({ unrendered, checked }: Effect.Success<ReturnType<typeof findUnrendered>> & { readonly campaignId: CampaignId }) =>
    `The e-mails of ${unrendered} of ${checked} recipients do not render. Import their lines again with the fields that are named; without them, nothing is sent to these recipients.`,
) {}

const checkRendering = Effect.fnUntraced(function* (campaign: Campaign) {
  const { say } = yield* TaskProgress
  const { first, ...counts } = yield* (yield* unrendered).findUnrendered(campaign, MAX_UNRENDERED_SHOWN)
  const found = { campaignId: campaign.id, ...counts }
  if (counts.unrendered === 0) return found
  for (const { token, reason } of first) yield* say(`recipient ${token}: ${reason}`)
  return yield* new RecipientsNotRendered({ ...found, first })
})
