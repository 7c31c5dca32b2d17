import { nameIn } from "@outreach/backoffice/format"
import { choice, field, required } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { MAX_RATE } from "@outreach/domain/campaigns/Campaign"
import type { InvalidTemplate, SenderNotShown } from "@outreach/domain/campaigns/CampaignErrors"
import { draftCampaign } from "@outreach/domain/campaigns/draftCampaign"
import { DisplayName } from "@outreach/domain/DisplayName"
import { ProgramId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { MAX_TEMPLATE_BYTES, TemplateText } from "@outreach/domain/mail/TemplateText"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { FieldNames } from "@outreach/domain/recipients/RecipientFields"
import { wholeNumber } from "@outreach/domain/textSchema"
import { Effect, Schema } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { pickDefined } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"

const path = "/campaigns/new"
const role = "operator"

export const newCampaignPage = definePage(path, {
  role,
  inputs: { program: ProgramId },
  run: Effect.fnUntraced(function* ({ program: programId }, { operator }) {
    const organizations = yield* (yield* OrganizationReader).list
    const programs = yield* (yield* ProgramRepository).list(operator.organizationId ?? undefined)
    const open = programs.filter(({ status }) => status !== "archived")
    return (
      <Page
        title="Create a campaign"
        commands={[
          ops("campaigns create", {
            program: programId ?? "pgm_…",
            name: "…",
            subject: "…",
            html: "mail.html",
            "window-start": "…",
            "window-end": "…",
          }),
        ]}
      >
        <p>A new campaign is a draft. Import its recipients, preview the e-mail, then schedule it.</p>
        <ActionForm
          action={createAction}
          label="Create the draft"
          isPrimary
          controls={{
            program: {
              options: open.map(({ id, name, organizationId }) => [
                id,
                `${nameIn(organizations, organizationId)}: ${name}`,
              ]),
              value: programId,
            },
          }}
        />
      </Page>
    )
  }),
})

const PLACEHOLDERS =
  "It may contain {{ program_name }}, {{ campaign_name }}, {{ sender_name }}, {{ postal_address }}, {{ token }}, {{ unsubscribe_url }}, {{ short_link }} if the campaign has one, and the fields below"
const [mail, window] = ["E-mail", "Sending window"]

const inputs = {
  program: required(field(ProgramId, "Program", { kind: "choice" })),
  name: required(
    field(DisplayName, "Name", { hint: "Shown to operators and as {{ campaign_name }} in e-mails", size: 32 }),
  ),
  kind: required(
    choice("Kind", [
      ["traffic", "traffic: clinicians go to the partner"],
      ["survey", "survey: clinicians stay with us"],
    ]),
  ),
  subject: required(field(DisplayName, "Subject", { group: mail, hint: PLACEHOLDERS, size: 60 })),
  layout: required(
    choice(
      "Layout",
      [
        ["plain", "plain: adds a footer with the sender and an unsubscribe link"],
        ["none", "none: the HTML contains sender_name, postal_address and unsubscribe_url"],
      ],
      { group: mail },
    ),
  ),
  html: required(field(TemplateText, "HTML", { group: mail, kind: "lines" })),
  text: field(TemplateText, "Text", { group: mail, kind: "lines", hint: "Empty: generated from the HTML" }),
  "short-link": field(Schema.String, "Short link", {
    group: mail,
    hint: "A URL of the partner, such as https://go.partner.example/{token}",
    inputmode: "url",
    size: 40,
  }),
  fields: field(FieldNames, "Recipient fields", {
    group: mail,
    hint: "Fields in subject and body, such as first_name,specialty; each import requires a column for each",
    size: 40,
  }),
  "window-start": required(field(Instant, "Sending starts", { group: window, kind: "instant" })),
  "window-end": required(field(Instant, "Sending ends", { group: window, kind: "instant" })),
  "per-minute": field(wholeNumber(1, MAX_RATE, "a number of e-mails"), "Maximum e-mails per minute", {
    group: window,
    hint: "Empty: no limit",
    inputmode: "numeric",
    size: 8,
  }),
  "pause-on-complaints": choice(
    "Pause on complaints",
    [
      ["no", "manually"],
      ["yes", "automatically at 0.3 %"],
    ],
    { group: window },
  ),
}

const createAction = defineAction(path, "campaigns create", {
  role,
  inputs,
  // A character can take three bytes in a form, and there are two parts.
  maxBytes: 6 * MAX_TEMPLATE_BYTES,
  faults: {
    ProgramNotFound: "program",
    ProgramArchived: "program",
    ProgramWithoutSender: "program",
    SenderNotShown: ({ part }: SenderNotShown) => part,
    InvalidTemplate: ({ part }: InvalidTemplate) => part,
    InvalidShortLink: "short-link",
    InvalidWindow: "window-end",
  },
  run: Effect.fnUntraced(function* ({ program, name, kind, subject, layout, html, ...given }) {
    const { id } = yield* draftCampaign({
      ...{ programId: program, name, kind, subject, layout, html },
      windowStart: given["window-start"],
      windowEnd: given["window-end"],
      pauseOnComplaints: given["pause-on-complaints"] === "yes",
      ...pickDefined({
        text: given.text,
        shortLink: given["short-link"],
        fields: given.fields,
        perMinute: given["per-minute"],
      }),
    })
    return {
      to: `/campaigns/${id}`,
      notice: "Draft created. Import its recipients, preview the e-mail, then schedule it.",
    }
  }),
})

export const newCampaignRoutes = [newCampaignPage, createAction] as const
