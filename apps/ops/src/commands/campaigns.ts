import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { campaigns as campaignList } from "@outreach/backoffice/lists/campaigns"
import {
  cancelCampaign,
  createCampaign,
  pauseCampaign,
  resumeCampaign,
  scheduleCampaign,
  testCampaign,
  updateCampaign,
} from "@outreach/backoffice/operations/campaigns"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { CampaignNotReady } from "@outreach/domain/campaigns/CampaignErrors"
import { failedChecks } from "@outreach/domain/campaigns/preflight"
import { CampaignId } from "@outreach/domain/Identifier"
import { preflightSettings, TestMailSettings } from "@outreach/mail/smtpSettings"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { Effect, Layer } from "effect"
import { preview } from "../campaigns/preview.ts"
import { show } from "../campaigns/show.ts"
import { group, reading } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { command, idArgument } from "../operationCommand.ts"
import { formatFinding, Output, print } from "../output/Output.ts"
import { secretSummaries, senderRepository } from "../secretCipher.ts"

const preflight = reading({
  about:
    "Check whether a campaign can be sent: recipients, window, rate, sender, required content, quota, endpoint and secret",
  input: { campaignId: idArgument("campaignId", CampaignId) },
  *run({ campaignId }) {
    const { checkCampaign } = yield* Effect.promise(() => import("@outreach/domain/campaigns/Preflights"))
    const checks = yield* checkCampaign(campaignId)
    const lines = checks.map(({ check, ...finding }) => formatFinding(`${check}: `, finding)).join("\n")
    const failed = failedChecks(checks)
    if (failed.length === 0 || (yield* Output) !== "json") yield* print({ campaignId, checks }, () => lines)
    if (failed.length === 0) return
    return yield* new CampaignNotReady({ campaignId, failed, checks })
  },
  services: preflightSettings,
})

export const campaigns = group({
  about: "E-mails to lists of recipients",
  commands: {
    create: command(createCampaign),
    preflight,
    schedule: command(scheduleCampaign, { services: preflightSettings }),
    pause: command(pauseCampaign),
    resume: command(resumeCampaign, { services: preflightSettings }),
    update: command(updateCampaign),
    cancel: command(cancelCampaign),
    list: listCommand(campaignList),
    show,
    preview,
    test: command(testCampaign, { services: TestMailSettings.fromEnvironment }),
  },
  services: Layer.mergeAll(
    CampaignRepositoryPg,
    CampaignReader.layer,
    SendingReader.layer,
    EndpointRepositoryPg,
    OrganizationReader.layer,
    secretSummaries,
    ProgramRepositoryPg,
    RecipientRepositoryPg,
    senderRepository,
  ),
})
