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
import { CampaignNotReady } from "@outreach/domain/campaigns/CampaignErrors"
import { failedChecks, type PreflightCheck } from "@outreach/domain/campaigns/preflight"
import { preflightSettings, TestMailSettings } from "@outreach/mail/smtpSettings"
import { Effect } from "effect"
import { followCampaign, formatCampaign } from "../campaigns/show.ts"
import { command, withRun } from "../command.ts"
import { group } from "../group.ts"
import { formatFinding, Output, print } from "../output/Output.ts"

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
