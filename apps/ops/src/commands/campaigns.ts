import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { type Campaign, countUnsent, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { ForcedChecks } from "@outreach/domain/campaigns/preflight"
import { SendingHours } from "@outreach/domain/campaigns/SendingHours"
import { DisplayName } from "@outreach/domain/DisplayName"
import { ProgramId } from "@outreach/domain/Identifier"
import { preflightSettings } from "@outreach/mail/preflightSettings"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { FollowUpRepositoryPg } from "@outreach/postgres/campaigns/FollowUpRepositoryPg"
import { SubjectTestRepositoryPg } from "@outreach/postgres/campaigns/SubjectTestRepositoryPg"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { list } from "../campaigns/list.ts"
import { preflight } from "../campaigns/preflight.ts"
import { preview } from "../campaigns/preview.ts"
import { rate } from "../campaigns/rate.ts"
import { sendTest } from "../campaigns/sendTest.ts"
import { show } from "../campaigns/show.ts"
import { campaignId } from "../inputs/commonFlags.ts"
import { followUpFlags, readFollowUp } from "../inputs/followUpFlags.ts"
import { parsedFlag } from "../inputs/parsedInput.ts"
import { readTemplate } from "../inputs/readTemplate.ts"
import { readSubjectTest, subjectTestFlags } from "../inputs/subjectTestFlags.ts"
import { instant } from "../inputs/times.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { printRecord } from "../output/Output.ts"
import { senderRepository } from "../senderRepository.ts"
import { secretSummaries } from "../signingSecrets.ts"

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
      "When e-mails go out, such as 8-18, by the local time of recipients whose import had a column time_zone or state; to the others at any time",
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

const pause = changing(
  "pause",
  { campaignId },
  Effect.fn("ops.campaigns.pause")(function* ({ campaignId }) {
    const { commandCampaign } = yield* loadCampaigns
    yield* printCampaign(yield* commandCampaign(campaignId, "pause"))
  }),
).pipe(Command.withDescription("Pause a campaign at once"))

const scheduling = (command: "schedule" | "resume", description: string) =>
  changing(
    command,
    {
      campaignId,
      force: parsedFlag(
        "force",
        ForcedChecks,
        "The names of the failed checks that do not matter, such as rate,quota; see campaigns preflight",
      ).pipe(Flag.withMetavar("checks"), Flag.withDefault([])),
    },
    Effect.fn(`ops.campaigns.${command}`)(function* ({ campaignId, force }) {
      const { scheduleCampaign } = yield* loadCampaigns
      yield* printCampaign(yield* scheduleCampaign(campaignId, { command, force }))
    }),
  ).pipe(Command.withDescription(description), Command.provide(preflightSettings))

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

/** `ops campaigns …` */
export const campaigns = Command.make("campaigns").pipe(
  Command.withDescription("E-mails to lists of recipients"),
  Command.withSubcommands([
    create,
    preflight,
    scheduling(
      "schedule",
      "Schedule a draft or paused campaign: it is published, and sent within its window. Refused while a check of preflight fails",
    ),
    pause,
    scheduling("resume", "Resume a paused campaign. Refused while a check of preflight fails"),
    rate,
    cancel,
    list,
    show,
    preview,
    sendTest,
  ]),
  Command.provide(
    Layer.mergeAll(
      CampaignRepositoryPg,
      CampaignReader.layer,
      EndpointRepositoryPg,
      secretSummaries,
      ProgramRepositoryPg,
      RecipientRepositoryPg,
      SubjectTestRepositoryPg,
      FollowUpRepositoryPg,
      TransactionPg,
      senderRepository,
    ),
  ),
)
