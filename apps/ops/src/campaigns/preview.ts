import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { CampaignId } from "@outreach/domain/Identifier"
import { optionalMailFrom } from "@outreach/mail/smtpSettings"
import { publicBaseUrl } from "@outreach/process/settings"
import { Effect, FileSystem, Path } from "effect"
import { revealing } from "../Declaration.ts"
import { onlySwitch, optional, text, withDefault } from "../inputs/Input.ts"
import { idArgument } from "../operationCommand.ts"
import { printToStderr, refusal, refuse } from "../output/Output.ts"

export const preview = revealing({
  about: "Write a campaign's e-mail to an .eml and an .html file without sending it",
  input: {
    campaignId: idArgument("campaignId", CampaignId),
    recipient: optional(text("The token of a recipient of the campaign (default a placeholder)", "token")),
    out: withDefault(
      text("The folder for the files, which are named after the campaign (default this folder)", "folder"),
      ".",
    ),
    check: onlySwitch(
      "Don't write files; list the recipients whose e-mail doesn't render: a field is missing, or a link isn't http, https or mailto",
    ),
  },
  *run({ campaignId, recipient, out, check }) {
    const { writeFile, writeFileString, makeDirectory } = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const campaign = yield* CampaignRepository.use(({ find }) => find(campaignId))
    if (check) return yield* checkRendering(campaign)
    const { previewMail } = yield* Effect.promise(() => import("@outreach/mail/previewMail"))
    const settings = { publicBaseUrl: yield* publicBaseUrl, mailFrom: yield* optionalMailFrom }
    const { subject, html, eml } = yield* Effect.provide(previewMail(campaign, recipient, settings), throwawaySeal)
    const file = (ending: string) => join(out, `${campaign.id}${ending}`)
    const files = { eml: file(".eml"), html: file(".html") }
    yield* makeDirectory(out, { recursive: true }).pipe(
      Effect.andThen(writeFile(files.eml, eml)),
      Effect.andThen(writeFileString(files.html, html)),
      Effect.mapError(() => refusal("FolderUnusable", `The folder ${out} cannot be written to.`, { folder: out })),
    )
    return { subject, ...files }
  },
})

const MAX_UNRENDERED_SHOWN = 100

const checkRendering = Effect.fnUntraced(function* (campaign: Campaign) {
  const { findUnrendered } = yield* Effect.promise(() => import("@outreach/domain/campaigns/UnrenderedRecipients"))
  const { checked, unrendered, first } = yield* findUnrendered(campaign, MAX_UNRENDERED_SHOWN)
  if (unrendered === 0) return { campaignId: campaign.id, checked, unrendered }
  for (const { token, reason } of first) yield* printToStderr(`recipient ${token}: ${reason}`)
  return yield* refuse(
    "RecipientsNotRendered",
    `The e-mails of ${unrendered} of ${checked} recipients do not render. Import their lines again with the fields that are named; without them, nothing is sent to these recipients.`,
    { campaignId: campaign.id, checked, unrendered, first },
  )
})
