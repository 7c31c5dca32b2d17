import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { FollowUpState } from "@outreach/domain/campaigns/FollowUp"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { readSubjectTestReport } from "@outreach/domain/campaigns/readSubjectTestReport"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { reading } from "../Declaration.ts"
import { campaignId } from "../inputs/filters.ts"
import { onlySwitch } from "../inputs/Input.ts"
import { formatRecord, formatRows, print } from "../output/Output.ts"
import { formatMailbox, formatRamp } from "../senders/formatSender.ts"
import { followCampaign, formatProgress } from "./followCampaign.ts"
import { formatSubjectTest } from "./formatSubjectTest.ts"

/** `ops campaigns show` */
export const show = reading({
  about: "Show a campaign's status and progress, and why messages were not sent",
  input: {
    campaignId,
    follow: onlySwitch("Show the progress until the campaign is over or paused; Ctrl-C changes nothing"),
  },
  *run({ campaignId, follow }) {
    if (follow) yield* followCampaign(campaignId)
    const repository = yield* CampaignRepository
    const { html, text, ...campaign } = yield* repository.find(campaignId)
    const progress = yield* repository.progress(campaignId)
    const sender = yield* SenderRepository.use(({ ofCampaign }) => ofCampaign(campaignId))
    const named = {
      ...campaign,
      // Null where it is the deployment's, MAIL_FROM.
      senderId: sender?.id ?? null,
      from: sender && formatMailbox(sender.fromName, sender.fromAddress),
      ramp: sender?.ramp ?? null,
    }
    const pauses = yield* repository.pauses(campaignId)
    const failures = yield* repository.failures(campaignId)
    const quarantined = yield* repository.quarantined(campaignId)
    const subjectTest = yield* readSubjectTestReport(campaign)
    const followUp = (yield* FollowUpRepository.use(({ find }) => find({ ...campaign, campaignId }))) ?? null
    yield* print({ ...named, html, text, progress, followUp, subjectTest, pauses, failures, quarantined }, () =>
      [
        formatRecord({ ...named, ramp: formatRamp(named.ramp), ...progress }),
        formatProgress(progress),
        followUp === null ? [] : formatFollowUp(followUp),
        subjectTest === null ? [] : formatSubjectTest(campaign.subject, subjectTest),
        section("Domains that refuse us, and when sending to them resumes:", pauses, ["domain", "status", "until"]),
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
      ]
        .flat()
        .join("\n\n"),
    )
  },
})

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
