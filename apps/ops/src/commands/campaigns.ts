import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { formatCounted } from "@outreach/backoffice/format"
import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import { CAMPAIGN_STATUSES, countUnsent, MAX_RATE, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus, CampaignNotReady } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { complaintLevel } from "@outreach/domain/campaigns/complaintLevel"
import { ForcedChecks, failedChecks } from "@outreach/domain/campaigns/preflight"
import { CampaignId, ProgramId } from "@outreach/domain/Identifier"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import { noneOr, wholeNumber as wholeNumberText } from "@outreach/domain/textSchema"
import { preflightSettings, smtpSettings } from "@outreach/mail/smtpSettings"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { publicBaseUrl } from "@outreach/process/settings"
import { Effect, Layer, Struct } from "effect"
import { operatorOrUser } from "../audit/audited.ts"
import { create, loadCampaigns, withoutBody } from "../campaigns/create.ts"
import { preview } from "../campaigns/preview.ts"
import { show } from "../campaigns/show.ts"
import { changing, group, reading } from "../Declaration.ts"
import { campaignId, emailAddress, organizationId } from "../inputs/filters.ts"
import { choice, flag, onOrOff, optional, text, withDefault } from "../inputs/Input.ts"
import { confirm, formatFinding, Output, print, yes } from "../output/Output.ts"
import { secretSummaries, senderRepository } from "../secretCipher.ts"

const reason = optional(
  flag(AuditReason, "The reason, shown with your name in campaigns show, the console and the audit log", "text"),
)

const stop = Effect.fnUntraced(function* (campaignId: CampaignId, command: "pause" | "cancel", reason?: string) {
  const { commandCampaign } = yield* loadCampaigns
  const stoppedBy = yield* operatorOrUser
  return withoutBody(yield* commandCampaign(campaignId, command, { stoppedBy, stopReason: reason ?? null }))
})

const pause = changing({
  about: "Pause a campaign immediately",
  input: { campaignId, reason },
  examples: ['ops campaigns pause cmp_… --reason "The partner asked to wait"'],
  *run({ campaignId, reason }) {
    return yield* stop(campaignId, "pause", reason)
  },
})

const scheduling = (command: "schedule" | "resume", about: string) =>
  changing({
    about,
    input: {
      campaignId,
      force: withDefault(
        flag(ForcedChecks, "Failed checks to ignore, such as rate,quota; see campaigns preflight", "checks"),
        [],
      ),
    },
    *run({ campaignId, force }) {
      const { scheduleCampaign } = yield* loadCampaigns
      return withoutBody(yield* scheduleCampaign(campaignId, { command, force }))
    },
    services: preflightSettings,
  })

const update = changing({
  about: "Change a campaign's rate or its pause on complaints, also while it sends",
  input: {
    campaignId,
    changes: {
      perMinute: optional(
        flag(
          noneOr(wholeNumberText(1, MAX_RATE, "a number of e-mails")),
          "The new maximum number of e-mails per minute, 1 to 1000000, or none for the workers' limit",
          "number",
        ),
      ),
      pauseOnComplaints: optional(
        onOrOff(
          "Pause it when at least three recipients and 0.3% have complained; --no-pause-on-complaints switches this off",
        ),
      ),
    },
  },
  examples: ["ops campaigns update cmp_… --per-minute 500", "ops campaigns update cmp_… --no-pause-on-complaints"],
  *run({ campaignId, changes: { perMinute, pauseOnComplaints } }) {
    const { changeRate, changePauseOnComplaints } = yield* loadCampaigns
    const changed = perMinute === undefined ? undefined : yield* changeRate(campaignId, perMinute)
    if (pauseOnComplaints === undefined) return withoutBody(changed!)
    return withoutBody(yield* changePauseOnComplaints(campaignId, pauseOnComplaints))
  },
})

const cancel = changing({
  about: "Cancel a campaign permanently. Requires confirmation or --yes",
  input: { campaignId, reason, yes },
  examples: ['ops campaigns cancel cmp_… --reason "The list was that of another program"'],
  *run({ campaignId, reason, yes }) {
    const campaigns = yield* CampaignRepository
    const { name, status } = yield* campaigns.find(campaignId)
    const { from } = TRANSITIONS.cancel
    if (!from.some((cancellable) => cancellable === status)) {
      return yield* new CampaignNotInStatus({ campaignId, status, wanted: from })
    }
    const progress = yield* campaigns.progress(campaignId)
    const count = countUnsent(progress)
    const unsent = `${formatCounted(count, "recipient")} of ${progress.recipients} without their e-mail`
    yield* confirm(`cancel campaign ${campaignId} "${name}" (${status}) for good, which leaves ${unsent}`, {
      yes,
      count,
    })
    return yield* stop(campaignId, "cancel", reason)
  },
})

const list = reading({
  about: "List campaigns, newest first, with their counts, of one organization or all",
  input: {
    organizationId: optional(organizationId),
    programId: optional(flag(ProgramId, "Only those of this program, pgm_…")),
    status: optional(choice(CAMPAIGN_STATUSES, "Only those in this status")),
    kind: optional(choice(["traffic", "survey"], "Only those of this kind")),
    text: optional(text("Only those with this in their name; case does not matter")),
  },
  cursor: { id: CampaignId },
  *run(filter, { limit, after }) {
    const rows = yield* CampaignReader.use(({ list }) => list({ ...filter, ...(after && { before: after.id }) }, limit))
    return rows.map((row) => ({
      ...row,
      ...Struct.pick(row.totals, ["recipients", "sent", "complained", "unsubscribed"]),
      complaintLevel: complaintLevel(row.totals),
    }))
  },
  columns: [
    "id",
    "programId",
    "name",
    "kind",
    "status",
    "recipients",
    "sent",
    "complained",
    "complaintLevel",
    "unsubscribed",
    "windowStart",
    "windowEnd",
  ],
})

const preflight = reading({
  about:
    "Check whether a campaign can be sent: recipients, window, rate, sender, required content, quota, endpoint and secret",
  input: { campaignId },
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

const sendTest = changing({
  about: "Send a test message to your own address. Its links don't record clicks",
  examples: ["ops campaigns test cmp_… --to me@acme.example"],
  input: {
    campaignId,
    to: flag(emailAddress, "The address that gets the test", "address"),
  },
  *run({ campaignId, to }) {
    const settings = { ...(yield* smtpSettings), publicBaseUrl: yield* publicBaseUrl }
    const campaign = yield* CampaignRepository.use(({ find }) => find(campaignId))
    const { sendTestMail } = yield* Effect.promise(() => import("@outreach/mail/sendTestMail"))
    const sent = yield* Effect.provide(sendTestMail(campaign, to, settings), throwawaySeal)
    return { campaignId, ...sent }
  },
})

export const campaigns = group({
  about: "E-mails to lists of recipients",
  commands: {
    create,
    preflight,
    schedule: scheduling(
      "schedule",
      "Schedule a draft or paused campaign: publish it, and send it within its window. Fails if a preflight check fails",
    ),
    pause,
    resume: scheduling("resume", "Resume a paused campaign. Fails if a preflight check fails"),
    update,
    cancel,
    list,
    show,
    preview,
    test: sendTest,
  },
  services: Layer.mergeAll(
    CampaignRepositoryPg,
    CampaignReader.layer,
    SendingReader.layer,
    EndpointRepositoryPg,
    secretSummaries,
    ProgramRepositoryPg,
    RecipientRepositoryPg,
    senderRepository,
  ),
})
