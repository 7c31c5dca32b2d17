import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { type Campaign, countUnsent, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { ForcedChecks } from "@outreach/domain/campaigns/preflight"
import { SendingHours } from "@outreach/domain/campaigns/SendingHours"
import { DisplayName } from "@outreach/domain/DisplayName"
import { ProgramId } from "@outreach/domain/Identifier"
import { noneOr, wholeNumber as wholeNumberText } from "@outreach/domain/textSchema"
import { preflightSettings } from "@outreach/mail/preflightSettings"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { FollowUpRepositoryPg } from "@outreach/postgres/campaigns/FollowUpRepositoryPg"
import { SubjectTestRepositoryPg } from "@outreach/postgres/campaigns/SubjectTestRepositoryPg"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Effect, Layer } from "effect"
import { list } from "../campaigns/list.ts"
import { preflight } from "../campaigns/preflight.ts"
import { preview } from "../campaigns/preview.ts"
import { sendTest } from "../campaigns/sendTest.ts"
import { show } from "../campaigns/show.ts"
import { changing, group } from "../Declaration.ts"
import { campaignId } from "../inputs/filters.ts"
import { followUpFlags, readFollowUp } from "../inputs/followUpFlags.ts"
import { choice, flag, optional, text, wholeNumber, withDefault } from "../inputs/Input.ts"
import { readTemplate } from "../inputs/readTemplate.ts"
import { readSubjectTest, subjectTestFlags } from "../inputs/subjectTestFlags.ts"
import { instant } from "../inputs/times.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { senderRepository } from "../senderRepository.ts"
import { secretSummaries } from "../signingSecrets.ts"

/** Loads the campaign use cases on demand, because they import the libraries that render messages. */
const loadCampaigns = Effect.promise(() => import("@outreach/domain/campaigns/Campaigns"))

/** Returns a campaign without its body. */
const withoutBody = ({ html: _html, text: _text, ...campaign }: Campaign) => campaign

const MAX_RATE = 1_000_000

const time = (description: string) => instant(`${description}, a time such as 2026-12-01T09:00:00Z`)

// Loaded when the flag is given, because it loads the template language.
const fieldNames = Effect.promise(async () => (await import("@outreach/domain/recipients/RecipientFields")).FieldNames)

const create = changing({
  about: "Add a campaign as a draft; nothing is sent before it is scheduled",
  input: {
    programId: flag(ProgramId, "The program's id, pgm_…"),
    name: flag(DisplayName, "The campaign's name"),
    kind: withDefault(
      choice(["traffic", "survey"], "Only traffic campaigns (the default) are forwarded to the partner"),
      "traffic",
    ),
    subject: flag(
      DisplayName,
      "The e-mails' subject; may contain {{ program_name }}, {{ campaign_name }}, {{ sender_name }}, {{ postal_address }}, {{ token }}, {{ short_link }} and {{ unsubscribe_url }}",
    ),
    html: text(
      "The file of the e-mails' HTML body, with the same placeholders; must show sender_name, postal_address and unsubscribe_url",
      "file",
    ),
    text: optional(
      text("The file of the e-mails' text part, likewise; without it, the text is made of the HTML", "file"),
    ),
    layout: withDefault(
      choice(
        ["none", "plain"],
        "plain wraps the HTML, which may be a fragment, in a layout whose footer names the sender and unsubscribes",
      ),
      "none",
    ),
    shortLink: optional(
      text("The partner's own link, with {token} in it, such as https://go.partner.example/{token}", "url"),
    ),
    fields: withDefault(
      flag(
        fieldNames,
        "What subject and body may name of each recipient, such as first_name,specialty; every import needs a column for each",
        "names",
      ),
      [],
    ),
    perMinute: optional(
      wholeNumber(
        1,
        MAX_RATE,
        "The maximum of its e-mails per minute; without it, as many as the workers send",
        "it must be from 1 to 1,000,000",
      ),
    ),
    hours: optional(
      flag(
        SendingHours,
        "When e-mails go out, such as 8-18, by the local time of recipients whose import had a column time_zone or state; to the others at any time",
      ),
    ),
    windowStart: time("When sending begins"),
    windowEnd: time("When sending ends"),
    ...subjectTestFlags,
    ...followUpFlags,
  },
  *run({ layout, shortLink = null, perMinute = null, hours = null, ...input }) {
    const { createCampaign } = yield* loadCampaigns
    const { wrapInPlainLayout, addPlainFooter } = yield* Effect.promise(
      () => import("@outreach/domain/mail/wrapInPlainLayout"),
    )
    const html = yield* readTemplate("html", input.html)
    const text = input.text === undefined ? null : yield* readTemplate("text", input.text)
    const subjectTest = yield* readSubjectTest(input)
    const followUp = yield* readFollowUp(input)
    const created = yield* createCampaign({
      ...input,
      ...{ subjectTest, followUp, shortLink, perMinute, hours },
      html: layout === "plain" ? wrapInPlainLayout(html) : html,
      text: text !== null && layout === "plain" ? addPlainFooter(text) : text,
    })
    return withoutBody(created)
  },
})

const pause = changing({
  about: "Pause a campaign at once",
  input: { campaignId },
  *run({ campaignId }) {
    const { commandCampaign } = yield* loadCampaigns
    return withoutBody(yield* commandCampaign(campaignId, "pause"))
  },
})

const scheduling = (command: "schedule" | "resume", about: string) =>
  changing({
    about,
    input: {
      campaignId,
      force: withDefault(
        flag(
          ForcedChecks,
          "The names of the failed checks that do not matter, such as rate,quota; see campaigns preflight",
          "checks",
        ),
        [],
      ),
    },
    *run({ campaignId, force }) {
      const { scheduleCampaign } = yield* loadCampaigns
      return withoutBody(yield* scheduleCampaign(campaignId, { command, force }))
    },
    services: preflightSettings,
  })

const rate = changing({
  about: "Change how many e-mails of a campaign go out in a minute at most, also while it sends",
  input: {
    campaignId,
    perMinute: flag(
      noneOr(wholeNumberText(1, MAX_RATE, "a number of e-mails")),
      "The maximum of its e-mails per minute from now on, 1 to 1000000, or none for as many as the workers send",
      "number",
    ),
  },
  *run({ campaignId, perMinute }) {
    const { changeRate } = yield* loadCampaigns
    return withoutBody(yield* changeRate(campaignId, perMinute))
  },
})

const cancel = changing({
  about: "End a campaign for good; what was sent stays sent. Asks first, or needs --yes",
  input: { campaignId, yes },
  *run({ campaignId, yes }) {
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
    return withoutBody(yield* commandCampaign(campaignId, "cancel"))
  },
})

/** `ops campaigns …` */
export const campaigns = group({
  about: "E-mails to lists of recipients",
  commands: {
    create,
    preflight,
    schedule: scheduling(
      "schedule",
      "Schedule a draft or paused campaign: it is published, and sent within its window. Refused while a check of preflight fails",
    ),
    pause,
    resume: scheduling("resume", "Resume a paused campaign. Refused while a check of preflight fails"),
    rate,
    cancel,
    list,
    show,
    preview,
    test: sendTest,
  },
  services: Layer.mergeAll(
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
})
