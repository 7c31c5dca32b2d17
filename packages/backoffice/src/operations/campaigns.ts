import { type Campaign, type Command, countUnsent, MAX_RATE, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import {
  CampaignNotInStatus,
  CampaignRepository,
  type InvalidTemplate,
  type SenderNotShown,
} from "@outreach/domain/campaigns/CampaignRepository"
import { ForcedChecks, failedChecks } from "@outreach/domain/campaigns/preflight"
import { DescribedError } from "@outreach/domain/DescribedError"
import { CampaignId, ProgramId } from "@outreach/domain/Identifier"
import { TemplateText } from "@outreach/domain/mail/Message"
import { EmailAddress } from "@outreach/domain/recipients/Clinician"
import { FieldNames } from "@outreach/domain/recipients/RecipientFields"
import { Instant, toUnixMillis } from "@outreach/domain/Timestamp"
import { DisplayName, expectedBy, noneOr, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { TestMailSettings } from "@outreach/mail/smtpSettings"
import { Clock, Effect, Layer, Schema, Struct } from "effect"
import { countOrNone, formatCount, formatCounted } from "../format.ts"
import { throwawaySeal } from "../hits/throwawaySeal.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { checkBox, choice, field, reason, required, withDefault, yesOrNo } from "./Field.ts"
import { operation } from "./Operation.ts"

// Loaded when needed, because they load the libraries that render messages.
const useCases = Effect.promise(() => import("@outreach/domain/campaigns/Campaigns"))
const preflights = Effect.promise(() => import("@outreach/domain/campaigns/Preflights"))
const testMails = Effect.promise(async () => ({
  ...(await import("@outreach/mail/sendTestMail")),
  ...(await import("@outreach/mail/SmtpTransport")),
}))

const withoutBody = ({ html: _html, text: _text, ...campaign }: Campaign) => campaign

const mail = "E-mail, fixed after scheduling"
const window = "Sending window, fixed after scheduling"
const speed = "Can be changed while it sends"
const complaints = "Pause on complaints"
export const describePause = (isAutomatic: boolean): string => (isAutomatic ? "automatically at 0.3 %" : "manually")
const atLeast = "Automatically, from 3 complaints and 0.3 % of the sent e-mails"
const example = "2026-12-01T09:00:00Z"

const perMinute = field(noneOr(wholeNumber(1, MAX_RATE, "a number of e-mails")), "E-mails per minute", {
  group: speed,
  hint: "From 1 to 1,000,000, or none for no limit",
  size: 10,
})

const NoFieldsOr = Schema.Union([
  textSchema("none", (text) => (text === "none" ? [] : undefined)),
  FieldNames,
]).annotate({
  expected: expectedBy(FieldNames),
})

/** The fields that can be changed until a campaign is scheduled. */
const draft = {
  name: field(DisplayName, "Name", {
    hint: "Shown to operators and as {{ campaign_name }} in e-mails; fixed after scheduling",
    example: "Spring",
    size: 32,
  }),
  subject: field(DisplayName, "Subject", {
    group: mail,
    hint: "It may contain {{ program_name }}, {{ campaign_name }}, {{ sender_name }}, {{ postal_address }}, {{ token }}, {{ unsubscribe_url }}, {{ short_link }} if the campaign has one, and the fields below",
    size: 60,
  }),
  preheader: field(noneOr(DisplayName), "Preheader", {
    group: mail,
    hint: "Shown after the subject in mailbox lists, with the same placeholders; or none",
    size: 60,
  }),
  layout: choice(
    "Layout",
    [
      ["plain", "plain: adds a footer with the sender and an unsubscribe link"],
      ["none", "none: the HTML contains sender_name, postal_address and unsubscribe_url"],
    ],
    { group: mail },
  ),
  html: field(TemplateText, "HTML", { group: mail, kind: "lines", hint: "With the same placeholders as the subject" }),
  text: field(noneOr(TemplateText), "Text", {
    group: mail,
    kind: "lines",
    hint: "Or none: it is generated from the HTML",
  }),
  shortLink: field(noneOr(Schema.String), "Short link", {
    group: mail,
    hint: "A URL of the partner, such as https://go.partner.example/{token}; or none",
    inputmode: "url",
    size: 40,
  }),
  fields: field(NoFieldsOr, "Recipient fields", {
    group: mail,
    hint: "Fields in subject and body, such as first_name,specialty, or none; each import requires a column for each",
    size: 40,
  }),
  windowStart: field(Instant, "Sending starts", { group: window, kind: "instant", example }),
  windowEnd: field(Instant, "Sending ends", { group: window, kind: "instant", example }),
} as const

/** The fields of the e-mail, which its preview shows. */
export const MAIL_FIELDS = Struct.omit(draft, ["windowStart", "windowEnd"])

const faults = {
  ProgramWithoutSender: "html",
  SenderNotShown: ({ part }: SenderNotShown) => part,
  InvalidTemplate: ({ part }: InvalidTemplate) => part,
  InvalidShortLink: "shortLink",
  InvalidWindow: "windowEnd",
} as const

export const createCampaign = operation("campaigns create", {
  role: "operator",
  about: "Create a campaign as a draft. It isn't sent until it is scheduled",
  label: "Create the draft",
  input: {
    programId: required(field(ProgramId, "Program", { kind: "choice" })),
    name: required(draft.name),
    kind: withDefault(
      choice("Kind", [
        ["traffic", "traffic: clinicians go to the partner"],
        ["survey", "survey: clinicians stay with us"],
      ]),
      "traffic",
    ),
    subject: required(draft.subject),
    preheader: draft.preheader,
    layout: withDefault(draft.layout, "none"),
    html: required(draft.html),
    ...Struct.pick(draft, ["text", "shortLink", "fields"]),
    windowStart: required(draft.windowStart),
    windowEnd: required(draft.windowEnd),
    perMinute,
    pauseOnComplaints: checkBox(complaints, { group: speed, hint: atLeast }),
  },
  faults: {
    ...faults,
    ProgramNotFound: "programId",
    ProgramArchived: "programId",
    ProgramWithoutSender: "programId",
  },
  *run(given) {
    return withoutBody(yield* (yield* useCases).createCampaign(given))
  },
  done: () => "Draft created. Its page lists the next steps.",
  examples: [
    'ops campaigns create --program pgm_… --name Spring --subject "An invitation" --html mail.html --window-start 2026-12-01T09:00:00Z --window-end 2026-12-05T17:00:00Z',
  ],
})

const ofCampaign = { role: "operator", of: { campaignId: CampaignId } } as const

/** To the second, like an input of a form. */
const secondOf = (at: string): string => at.replace(/\.\d+/, "")

export const updateCampaign = operation("campaigns update", {
  ...ofCampaign,
  about:
    "Change a draft: its name, e-mail, window and rate. After scheduling, only the rate and the pause on complaints can be changed",
  label: "Save",
  input: {
    ...draft,
    perMinute,
    pauseOnComplaints: yesOrNo(complaints, describePause(true), describePause(false), { group: speed, hint: atLeast }),
  },
  isPartial: true,
  faults,
  find: ({ campaignId }) => Effect.flatMap(useCases, ({ findWritten }) => findWritten(campaignId)),
  versionOf: ({ editedAt }) => editedAt,
  texts: ({ html, text, preheader, shortLink, fields, ...campaign }) => ({
    ...Struct.pick(campaign, ["name", "subject", "layout"]),
    ...{ preheader: preheader ?? "none", shortLink: shortLink ?? "none", fields: fields.join(",") || "none" },
    ...{ html: html.trim(), text: text?.trim() ?? "none" },
    ...{ windowStart: secondOf(campaign.windowStart), windowEnd: secondOf(campaign.windowEnd) },
    perMinute: countOrNone(campaign.perMinute),
    pauseOnComplaints: campaign.pauseOnComplaints ? "yes" : "no",
  }),
  *run({ campaignId, ...changes }, _, version) {
    return withoutBody(yield* (yield* useCases).updateCampaign(campaignId, changes, version))
  },
  done: () => "Saved.",
  examples: [
    "ops campaigns update cmp_… --per-minute 500",
    'ops campaigns update cmp_… --subject "A reminder" --html mail.html',
  ],
})

export const duplicateCampaign = operation("campaigns duplicate", {
  ...ofCampaign,
  about: "Duplicate a campaign as a draft without recipients",
  label: "Duplicate",
  input: { name: draft.name },
  *run({ campaignId, name }) {
    return withoutBody(yield* (yield* useCases).duplicateCampaign(campaignId, name))
  },
  done: ({ name }) => `Duplicated as the draft “${name}”, without recipients.`,
})

/** Plans a change of a campaign's status by the recipients without an e-mail. */
const planFor = Effect.fnUntraced(function* (command: Command, campaignId: CampaignId) {
  const { find, progress, summaries } = yield* CampaignRepository
  const campaign = yield* find(campaignId)
  const { organizationId, name, status } = campaign
  const { from: wanted } = TRANSITIONS[command]
  const isPossible = wanted.some((each) => each === status)
  const counts = yield* progress(campaignId)
  const count = countUnsent(counts)
  const { program } = (yield* summaries(organizationId, [campaignId])).get(campaignId)!
  return {
    campaign,
    title: `${command[0]!.toUpperCase()}${command.slice(1)} “${name}”`,
    count,
    many: `${formatCount(count)} of ${formatCounted(counts.recipients, "recipient")}`,
    affects: yield* (yield* OrganizationReader).find(organizationId),
    facts: { Campaign: { id: campaignId, name }, Program: { id: program.id, name: program.name } },
    obstacle: isPossible ? undefined : new CampaignNotInStatus({ campaignId, status, wanted }).message,
  }
})

const launching = (command: "schedule" | "resume", label: string, about: string, done: string) =>
  operation(`campaigns ${command}`, {
    ...ofCampaign,
    about,
    label,
    input: {
      force: field(ForcedChecks, "Failed checks to ignore", { hint: "Such as rate,quota; see campaigns preflight" }),
    },
    *plan({ campaignId }) {
      const { campaign, facts, ...planned } = yield* planFor(command, campaignId)
      const { name, subject, windowStart, windowEnd } = campaign
      const checks = planned.obstacle === undefined ? yield* (yield* preflights).checkCampaign(campaignId) : []
      const failed = checks.filter(({ status }) => status === "failed").map(({ found }) => found)
      const because = `Preflight checks failed: ${failed.join(" ")} Type the campaign's name to send it anyway.`
      const isOpen = toUnixMillis(windowStart) <= (yield* Clock.currentTimeMillis)
      return {
        ...planned,
        when: isOpen ? "Immediately" : "When sending starts",
        facts: {
          ...facts,
          Subject: subject,
          "Sending starts": { at: windowStart },
          "Sending ends": { at: windowEnd },
        },
        checks,
        values: { force: failedChecks(checks) },
        caution: failed.length === 0 ? undefined : { word: name, because },
      }
    },
    // The plan is of this version.
    find: ({ campaignId }) => CampaignRepository.use(({ find }) => find(campaignId)),
    versionOf: ({ editedAt }) => editedAt,
    *run({ campaignId, force = [] }, _, version) {
      return withoutBody(yield* (yield* useCases).scheduleCampaign(campaignId, { command, force, version }))
    },
    done: () => done,
  })

export const scheduleCampaign = launching(
  "schedule",
  "Schedule",
  "Schedule a draft or paused campaign: publish it, and send it within its window. Fails if a preflight check fails",
  "Scheduled. Its recipients are published and get the e-mail in the window.",
)
export const resumeCampaign = launching(
  "resume",
  "Resume",
  "Resume a paused campaign. Fails if a preflight check fails",
  "Resumed. Sending continues within seconds.",
)

const stop = (command: "pause" | "cancel") =>
  Effect.fnUntraced(function* (given: { readonly campaignId: CampaignId; readonly reason?: string }, operator: string) {
    const { campaignId, reason: stopReason = null } = given
    const { commandCampaign } = yield* useCases
    return withoutBody(yield* commandCampaign(campaignId, command, { stoppedBy: operator, stopReason }))
  })

export const pauseCampaign = operation("campaigns pause", {
  ...ofCampaign,
  about: "Pause a campaign immediately",
  label: "Pause",
  input: { reason },
  run: stop("pause"),
  done: () => "Paused. Messages in progress are still sent.",
})

export const cancelCampaign = operation("campaigns cancel", {
  ...ofCampaign,
  role: "admin",
  about: "Cancel a campaign permanently",
  label: "Cancel permanently",
  link: "Cancel",
  isIrreversible: true,
  input: { reason },
  *plan({ campaignId }) {
    const { campaign, ...planned } = yield* planFor("cancel", campaignId)
    const because = "You can't resume a cancelled campaign. These recipients don't get the e-mail."
    return {
      ...planned,
      when: "Immediately. Messages in progress are still sent.",
      caution: planned.obstacle === undefined ? { word: campaign.name, because } : undefined,
    }
  },
  run: stop("cancel"),
  done: () => "Cancelled. The remaining recipients don't get the e-mail.",
})

class NoMailServer extends DescribedError(
  "NoMailServer",
  "The console can't send e-mail because SMTP_URL isn't set. Set SMTP_URL and MAIL_FROM to the worker's values, or send the test on the command line.",
) {}

export const testCampaign = operation("campaigns test", {
  ...ofCampaign,
  about: "Send a test message to your own address. Its links don't record clicks",
  label: "Send a test",
  input: {
    to: required(
      field(EmailAddress, "Your e-mail address", { inputmode: "email", size: 24, example: "me@acme.example" }),
    ),
  },
  *run({ campaignId, to }) {
    const settings = yield* yield* TestMailSettings
    if (settings === null) return yield* new NoMailServer()
    const { find, markTested } = yield* CampaignRepository
    const campaign = yield* find(campaignId)
    const { sendTestMail, SmtpTransport, INTERACTIVE_TIMEOUTS } = yield* testMails
    const transport = SmtpTransport(settings.smtpUrl, INTERACTIVE_TIMEOUTS)
    const services = Layer.merge(throwawaySeal, transport)
    const sent = yield* Effect.provide(sendTestMail(campaign, to, settings), services)
    yield* markTested(campaign)
    return { campaignId, ...sent }
  },
  done: () => "The mail server accepted the test message. Clicks on its links aren't recorded.",
})
