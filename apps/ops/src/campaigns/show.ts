import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { FollowUpState } from "@outreach/domain/campaigns/FollowUp"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { readSubjectTestReport } from "@outreach/domain/campaigns/readSubjectTestReport"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { campaignId } from "../inputs/commonFlags.ts"
import { switchFlag } from "../inputs/parsedInput.ts"
import { formatRecord, formatRows, print } from "../output/Output.ts"
import { formatMailbox, formatRamp } from "../senders/printSender.ts"
import { followCampaign, formatProgress } from "./followCampaign.ts"
import { formatSubjectTest } from "./formatSubjectTest.ts"

/** `ops campaigns show` */
export const show = reading(
  "show",
  {
    campaignId,
    follow: switchFlag("follow", "Show the progress until the campaign is over or paused; Ctrl-C changes nothing").pipe(
      Flag.withoutNegation,
    ),
  },
  Effect.fn("ops.campaigns.show")(function* (input) {
    if (input.follow) yield* followCampaign(input.campaignId)
    const repository = yield* CampaignRepository
    const { html, text: textPart, ...campaign } = yield* repository.find(input.campaignId)
    const progress = yield* repository.progress(input.campaignId)
    const sender = yield* (yield* SenderRepository).ofCampaign(input.campaignId)
    const named = {
      ...campaign,
      // Null where it is the deployment's, MAIL_FROM.
      senderId: sender?.id ?? null,
      from: sender && formatMailbox(sender.fromName, sender.fromAddress),
      ramp: sender?.ramp ?? null,
    }
    const pauses = yield* repository.pauses(input.campaignId)
    const failures = yield* repository.failures(input.campaignId)
    const quarantined = yield* repository.quarantined(input.campaignId)
    const subjectTest = yield* readSubjectTestReport(campaign)
    const followUp = (yield* (yield* FollowUpRepository).find({ ...campaign, campaignId: campaign.id })) ?? null
    const text = () =>
      [
        formatRecord({ ...named, ramp: formatRamp(named.ramp), ...progress }),
        formatProgress(progress),
        ...(followUp === null ? [] : [formatFollowUp(followUp)]),
        ...(subjectTest === null ? [] : [formatSubjectTest(campaign.subject, subjectTest)]),
        ...[
          section(`Domains that refuse us, and when sending to them resumes:`, pauses, ["domain", "status", "until"]),
          section(`Messages that were not sent, by SMTP reply, for reasons other than the recipient:`, failures, [
            "class",
            "code",
            "messages",
          ]),
          section(
            `Messages that are not retried: without a reply from the mail server, or not rendered (template); the first 100:`,
            quarantined,
            ["recipientId", "token", "unknownOutcomes", "class", "code", "quarantinedAt"],
          ),
        ].flat(),
      ].join("\n\n")
    yield* print(
      { ...named, html, text: textPart, progress, followUp, subjectTest, pauses, failures, quarantined },
      text,
    )
  }),
).pipe(Command.withDescription("Show a campaign's status and progress, and why messages were not sent"))

const formatFollowUp = ({ skipped, ...followUp }: FollowUpState) => {
  const reasons = Object.entries(skipped).map(([reason, count]) => ({ reason, recipients: count }))
  const skips = section("Recipients of the earlier campaign who are not sent a follow-up:", reasons, [
    "reason",
    "recipients",
  ])
  return [formatRecord(followUp), ...skips].join("\n\n")
}

const section = <Row extends object>(
  title: string,
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<keyof Row & string>,
) => (rows.length === 0 ? [] : [`${title}\n${formatRows(rows, columns)}`])
