import {
  type Campaign,
  type Command as CampaignCommand,
  countUnsent,
  TRANSITIONS,
} from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { FollowUpState } from "@outreach/domain/campaigns/FollowUp"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { SendingHours } from "@outreach/domain/campaigns/SendingHours"
import { ProgramId } from "@outreach/domain/Identifier"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { FollowUpRepositoryPg } from "@outreach/postgres/campaigns/FollowUpRepositoryPg"
import { SubjectTestRepositoryPg } from "@outreach/postgres/campaigns/SubjectTestRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Effect, FileSystem, Layer, Option, Path, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { changing, reading, revealing } from "../audit/Access.ts"
import { followCampaign, formatProgress } from "../campaigns/followCampaign.ts"
import { list } from "../campaigns/list.ts"
import { sendTest } from "../campaigns/sendTest.ts"
import { formatSubjectTest, readSubjectTestReport } from "../campaigns/subjectTestReport.ts"
import { campaignId } from "../inputs/commonFlags.ts"
import { DisplayName } from "../inputs/DisplayName.ts"
import { followUpFlags, readFollowUp } from "../inputs/followUpFlags.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { readTemplate } from "../inputs/readTemplate.ts"
import { readSubjectTest, subjectTestFlags } from "../inputs/subjectTestFlags.ts"
import { instant } from "../inputs/times.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { formatRecord, formatRows, print, printRecord, printToStderr } from "../output/Output.ts"
import { senderRepository } from "../senderRepository.ts"
import { formatMailbox } from "../senders/printSender.ts"

/** Loads the campaign use cases on demand, because they import the libraries that render messages. */
const loadCampaigns = Effect.promise(() => import("@outreach/domain/campaigns/Campaigns"))

/** Prints a campaign without its body. */
const printCampaign = ({ html: _html, text: _text, ...campaign }: Campaign) => printRecord(campaign)

const time = (flag: string, description: string) => instant(flag, `${description}, a time such as 2026-12-01T09:00:00Z`)

// Loaded when the flag is given, because it loads the template language.
const fieldNames = Effect.promise(async () => (await import("@outreach/domain/recipients/RecipientFields")).FieldNames)

const create = changing(
  "create",
  {
    programId: parsedFlag("program", ProgramId, "The program's id, pgm_…"),
    name: parsedFlag("name", DisplayName, "The campaign's name"),
    kind: Flag.Literals("kind", ["traffic", "survey"]).pipe(
      Flag.withDescription("Only traffic campaigns (the default) are forwarded to the partner"),
      Flag.withDefault("traffic" as const),
    ),
    subject: parsedFlag(
      "subject",
      DisplayName,
      "The e-mails' subject; may contain {{ program_name }}, {{ campaign_name }}, {{ sender_name }}, {{ postal_address }}, {{ token }}, {{ short_link }} and {{ unsubscribe_url }}",
    ),
    html: Flag.String("html").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription(
        "The file of the e-mails' HTML body, with the same placeholders; must show sender_name, postal_address and unsubscribe_url",
      ),
    ),
    text: Flag.String("text").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("The file of the e-mails' text part, likewise; without it, the text is made of the HTML"),
      Flag.optional,
    ),
    layout: Flag.Literals("layout", ["none", "plain"]).pipe(
      Flag.withDescription(
        "plain wraps the HTML, which may be a fragment, in a layout whose footer names the sender and unsubscribes",
      ),
      Flag.withDefault("none" as const),
    ),
    shortLink: Flag.String("short-link").pipe(
      Flag.withMetavar("url"),
      Flag.withDescription("The partner's own link, with {token} in it, such as https://go.partner.example/{token}"),
      Flag.optional,
    ),
    fields: parsedFlag(
      "fields",
      fieldNames,
      "What subject and body may name of each recipient, such as first_name,specialty; every import needs a column for each",
    ).pipe(Flag.withMetavar("names"), Flag.withDefault([])),
    perMinute: Flag.Int("per-minute").pipe(
      Flag.withDescription("The maximum of its e-mails per minute; without it, as many as the workers send"),
      Flag.filter(
        (rate) => rate >= 1 && rate <= 1_000_000,
        () => "it must be from 1 to 1,000,000",
      ),
      Flag.optional,
    ),
    hours: parsedFlag(
      "hours",
      SendingHours,
      "When e-mails go out, such as 8-18, by the local time of recipients of whom an import's column time_zone or state says where they are; to the others at any time",
    ).pipe(Flag.optional),
    windowStart: time("window-start", "When sending begins"),
    windowEnd: time("window-end", "When sending ends"),
    ...subjectTestFlags,
    ...followUpFlags,
  },
  Effect.fn("ops.campaigns.create")(function* ({ layout, ...input }) {
    const { createCampaign } = yield* loadCampaigns
    const { wrapInPlainLayout, addPlainFooter } = yield* Effect.promise(
      () => import("@outreach/domain/mail/wrapInPlainLayout"),
    )
    const html = yield* readTemplate("html", input.html)
    const text = Option.isSome(input.text) ? yield* readTemplate("text", input.text.value) : null
    const subjectTest = yield* readSubjectTest(input)
    const followUp = yield* readFollowUp(input)
    yield* printCampaign(
      yield* createCampaign({
        ...input,
        subjectTest,
        followUp,
        html: layout === "plain" ? wrapInPlainLayout(html) : html,
        text: text !== null && layout === "plain" ? addPlainFooter(text) : text,
        shortLink: Option.getOrNull(input.shortLink),
        perMinute: Option.getOrNull(input.perMinute),
        hours: Option.getOrNull(input.hours),
      }),
    )
  }),
).pipe(Command.withDescription("Add a campaign as a draft; nothing is sent before it is scheduled"))

const command = (command: Exclude<CampaignCommand, "cancel">, description: string) =>
  changing(
    command,
    { campaignId },
    Effect.fn(`ops.campaigns.${command}`)(function* (input) {
      const { commandCampaign } = yield* loadCampaigns
      yield* printCampaign(yield* commandCampaign(input.campaignId, command))
    }),
  ).pipe(Command.withDescription(description))

const cancel = changing(
  "cancel",
  { campaignId, yes },
  Effect.fn("ops.campaigns.cancel")(function* ({ campaignId, yes }) {
    const campaigns = yield* CampaignRepository
    const { name, status } = yield* campaigns.find(campaignId)
    const { from } = TRANSITIONS.cancel
    if (!from.some((cancellable) => cancellable === status)) {
      return yield* new CampaignNotInStatus({ campaignId, status, wanted: from })
    }
    const progress = yield* campaigns.progress(campaignId)
    const count = countUnsent(progress)
    const unsent = `${formatCount(count, "recipient")} of ${progress.recipients} without their e-mail`
    yield* confirm(`cancel campaign ${campaignId} "${name}" (${status}) for good, which leaves ${unsent}`, {
      yes,
      count,
    })
    const { commandCampaign } = yield* loadCampaigns
    yield* printCampaign(yield* commandCampaign(campaignId, "cancel"))
  }),
).pipe(Command.withDescription("End a campaign for good; what was sent stays sent. Asks first, or needs --yes"))

const show = reading(
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
    }
    const pauses = yield* repository.pauses(input.campaignId)
    const failures = yield* repository.failures(input.campaignId)
    const quarantined = yield* repository.quarantined(input.campaignId)
    const subjectTest = yield* readSubjectTestReport(campaign)
    const followUp = (yield* (yield* FollowUpRepository).find({ ...campaign, campaignId: campaign.id })) ?? null
    const text = () =>
      [
        formatRecord({ ...named, ...progress }),
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

const preview = revealing(
  "preview",
  {
    campaignId,
    recipient: Flag.String("recipient").pipe(
      Flag.withMetavar("token"),
      Flag.withDescription("The token of a recipient of the campaign (default a placeholder)"),
      Flag.optional,
    ),
    out: Flag.String("out").pipe(
      Flag.withMetavar("folder"),
      Flag.withDescription("The folder for the two files, which are named after the campaign (default this folder)"),
      Flag.withDefault("."),
    ),
    check: switchFlag(
      "check",
      "Write nothing, and name the recipients whose e-mail does not render because a field is missing",
    ).pipe(Flag.withoutNegation),
  },
  Effect.fn("ops.campaigns.preview")(function* (input) {
    const { writeFile, writeFileString, makeDirectory } = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const campaign = yield* (yield* CampaignRepository).find(input.campaignId)
    if (input.check) return yield* checkRendering(campaign)
    // Loaded here, because few commands render a message.
    const { previewMail } = yield* Effect.promise(() => import("../campaigns/previewMail.ts"))
    const { html, eml, ...subjects } = yield* previewMail(campaign, Option.getOrUndefined(input.recipient))
    const files = { eml: join(input.out, `${campaign.id}.eml`), html: join(input.out, `${campaign.id}.html`) }
    yield* makeDirectory(input.out, { recursive: true }).pipe(
      Effect.andThen(writeFile(files.eml, eml)),
      Effect.andThen(writeFileString(files.html, html)),
      Effect.mapError(() => new FolderUnusable({ folder: input.out })),
    )
    yield* printRecord({ ...subjects, ...files })
  }),
).pipe(
  Command.withDescription(
    "Write a campaign's e-mail to an .eml and an .html file, as it would be sent; nothing is sent",
  ),
)

const MAX_UNRENDERED_SHOWN = 100

const checkRendering = Effect.fnUntraced(function* (campaign: Campaign) {
  const { findUnrendered } = yield* Effect.promise(() => import("@outreach/domain/campaigns/UnrenderedRecipients"))
  const { checked, unrendered, first } = yield* findUnrendered(campaign, MAX_UNRENDERED_SHOWN)
  if (unrendered === 0) return yield* printRecord({ campaignId: campaign.id, checked, unrendered })
  for (const { token, reason } of first) yield* printToStderr(`recipient ${token}: ${reason}`)
  return yield* new RecipientsNotRendered({ campaignId: campaign.id, checked, unrendered, first })
})

/** The e-mails of some recipients do not render. */
class RecipientsNotRendered extends Schema.TaggedError<RecipientsNotRendered>()("RecipientsNotRendered", {
  campaignId: Schema.String,
  checked: Schema.Int,
  unrendered: Schema.Int,
  first: Schema.Array(Schema.Struct({ token: Schema.String, reason: Schema.String })),
}) {
  override get message(): string {
    return `The e-mails of ${this.unrendered} of ${this.checked} recipients do not render. Import their lines again with the missing fields; without them, nothing is sent to these recipients.`
  }
}

/** The folder of the preview cannot be written to. */
class FolderUnusable extends Schema.TaggedError<FolderUnusable>()("FolderUnusable", { folder: Schema.String }) {
  override get message(): string {
    return `The folder ${this.folder} cannot be written to.`
  }
}

/** `ops campaigns …` */
export const campaigns = Command.make("campaigns").pipe(
  Command.withDescription("E-mails to lists of recipients"),
  Command.withSubcommands([
    create,
    command("schedule", "Schedule a draft or paused campaign: it is published, and sent within its window"),
    command("pause", "Pause a campaign at once"),
    command("resume", "Resume a paused campaign"),
    cancel,
    list,
    show,
    preview,
    sendTest,
  ]),
  Command.provide(
    Layer.mergeAll(
      CampaignRepositoryPg,
      ProgramRepositoryPg,
      RecipientRepositoryPg,
      SubjectTestRepositoryPg,
      FollowUpRepositoryPg,
      TransactionPg,
      senderRepository,
    ),
  ),
)
