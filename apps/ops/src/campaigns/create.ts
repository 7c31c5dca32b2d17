import { type Campaign, MAX_RATE } from "@outreach/domain/campaigns/Campaign"
import { DisplayName } from "@outreach/domain/DisplayName"
import { ProgramId } from "@outreach/domain/Identifier"
import { MAX_TEMPLATE_BYTES, TemplateText } from "@outreach/domain/mail/TemplateText"
import { parseInput } from "@outreach/domain/parseInput"
import { Effect, FileSystem } from "effect"
import { changing } from "../Declaration.ts"
import { instant } from "../inputs/filters.ts"
import { choice, flag, optional, switchFlag, text, wholeNumber, withDefault } from "../inputs/Input.ts"
import { refusal } from "../output/Output.ts"

/** Loads the campaign use cases on demand, because they import the libraries that render messages. */
export const loadCampaigns = Effect.promise(() => import("@outreach/domain/campaigns/Campaigns"))

export const withoutBody = ({ html: _html, text: _text, ...campaign }: Campaign) => campaign

const time = (description: string) => instant(`${description}, a time such as 2026-12-01T09:00:00Z`)

// Loaded when the flag is given, because it loads the template language.
const fieldNames = Effect.promise(async () => (await import("@outreach/domain/recipients/RecipientFields")).FieldNames)

export const create = changing({
  about: "Create a campaign as a draft. It isn't sent until it is scheduled",
  examples: [
    'ops campaigns create --program pgm_… --name Spring --subject "An invitation" --html mail.html --window-start 2026-12-01T09:00:00Z --window-end 2026-12-05T17:00:00Z',
  ],
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
        "plain wraps the HTML, which may be a fragment, in a layout with sender and unsubscribe link in the footer",
      ),
      "none",
    ),
    shortLink: optional(
      text("The partner's short link with {token}, such as https://go.partner.example/{token}", "url"),
    ),
    fields: withDefault(
      flag(
        fieldNames,
        "Recipient fields that the templates use, such as first_name,specialty; every import needs a column for each",
        "names",
      ),
      [],
    ),
    perMinute: optional(
      wholeNumber(
        1,
        MAX_RATE,
        "Maximum number of e-mails per minute (default: the workers' limit)",
        "it must be from 1 to 1,000,000",
      ),
    ),
    pauseOnComplaints: switchFlag("Pause it automatically when at least three recipients and 0.3% have complained"),
    windowStart: time("The start of the send window"),
    windowEnd: time("The end of the send window"),
  },
  *run(input) {
    const { draftCampaign } = yield* Effect.promise(() => import("@outreach/domain/campaigns/draftCampaign"))
    const html = yield* readTemplate("html", input.html)
    const text = input.text === undefined ? null : yield* readTemplate("text", input.text)
    return withoutBody(yield* draftCampaign({ ...input, html, text }))
  },
})

const NAMES = { html: ["HtmlUnusable", "HTML"], text: ["TextUnusable", "text"] } as const

const parseTemplate = parseInput(TemplateText)

/** Reads a part of a campaign's body from a file: UTF-8, at most 1 MiB, not blank. */
const readTemplate = Effect.fnUntraced(function* (part: "html" | "text", file: string) {
  const { stat, readFile } = yield* FileSystem.FileSystem
  const [tag, name] = NAMES[part]
  const unusable = (reason: string) => refusal(tag, `The ${name} file ${file} ${reason}.`, { file, reason })
  const unreadable = Effect.mapError(({ reason }: { reason: { _tag: string } }) =>
    unusable(reason._tag === "NotFound" ? "does not exist" : "cannot be read"),
  )
  const { type, size } = yield* unreadable(stat(file))
  if (type !== "File") return yield* Effect.fail(unusable("is not a regular file"))
  if (size > MAX_TEMPLATE_BYTES) return yield* Effect.fail(unusable("holds more than 1 MiB"))
  const bytes = yield* unreadable(readFile(file))
  const text = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => unusable("is not text in UTF-8"),
  })
  return yield* Effect.mapError(Effect.fromResult(parseTemplate(text)), ({ reason }) =>
    unusable(reason.replace("it ", "")),
  )
})
