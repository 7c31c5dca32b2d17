import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import { MAIL_FIELDS, updateCampaign } from "@outreach/backoffice/operations/campaigns"
import { fieldName, oneOf } from "@outreach/backoffice/operations/Field"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository, LIVE_FIELDS } from "@outreach/domain/campaigns/CampaignRepository"
import { composeEdits, findWritten } from "@outreach/domain/campaigns/Campaigns"
import { TRACKING_PATHS } from "@outreach/domain/hits/TrackingLinks"
import { type CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { insertAtStart } from "@outreach/domain/mail/templates/insertPreheader"
import { escapeHtml } from "@outreach/domain/mail/templates/Template"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { maskEmail } from "@outreach/domain/recipients/Clinician"
import { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import { previewMail, RecipientNotFound } from "@outreach/mail/previewMail"
import { Effect, Record, Schema, Struct } from "effect"
import { HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm } from "../../components/forms.tsx"
import { Chips, Facts, LinkLine, Page, Section, withQuery } from "../../components/layout.tsx"
import { foreign } from "../../components/values.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import { defineAction, definePage, defineResource } from "../../http/Route.ts"
import { type Inputs, parseInputs, valuesOf } from "../../view/inputs.ts"
import { pathTo } from "../../view/paths.ts"
import { MAX_MAIL_FORM_BYTES } from "./campaignsPages.tsx"

const SAMPLES = 3

const VIEWS = { html: "HTML", phone: "On a phone", text: "Text" } as const
const VIEW_NAMES = Struct.keys(VIEWS)

const campaignMailPage = definePage("/campaigns/:campaign/mail", {
  inputs: { view: oneOf(VIEW_NAMES), recipient: RecipientId },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, view = "html", recipient }, { operator }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const key = { organizationId: campaign.organizationId, campaignId }
    const { subject } = yield* preview(campaign)
    const samples = mayActAs(operator.role, "operator") ? yield* (yield* CampaignReader).samples(key, SAMPLES) : []
    const path = `/campaigns/${campaignId}/mail`
    const page = withQuery(path, { view, recipient })
    const frame = `${path}/${view === "text" ? "text" : "html"}${recipient === undefined ? "" : `/${recipient}`}`
    return (
      <Page
        title={foreign`E-mail of ${campaign.name}`}
        commands={[["campaigns preview", campaignId, { out: "previews" }]]}
      >
        <LinkLine to={`/campaigns/${campaignId}`}>Back to the campaign</LinkLine>
        <Facts facts={{ Subject: subject }} />
        <Chips
          label="View"
          of={VIEW_NAMES.map((name) => [withQuery(page, { view: name }), VIEWS[name]])}
          chosen={page}
        />
        <Chips
          label="Recipient"
          of={[
            [withQuery(page, { recipient: undefined }), "Sample data"],
            ...samples.map(({ id, email }) => [withQuery(page, { recipient: id }), maskEmail(email)] as const),
          ]}
          chosen={page}
        />
        <p>
          {recipient === undefined ? (
            "Placeholders such as [first_name] replace the recipient's fields."
          ) : (
            <>
              This e-mail contains data of <a href={`/people/${recipient}`}>this recipient</a>. The audit log records
              this view.
            </>
          )}{" "}
          Clicks aren't recorded, and external content is blocked.
        </p>
        <iframe class={`mail ${view}`} title={`The e-mail, ${VIEWS[view].toLowerCase()}`} sandbox="" src={frame} />
      </Page>
    )
  }),
})

/** Only inline styles: no script, no external image or font, no form, and no navigation out of the frame. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"

type Part = "html" | "text"

/** Renders the e-mail to a recipient, without `token` to a placeholder. */
const preview = Effect.fnUntraced(function* (campaign: Campaign, token?: string) {
  const { publicBaseUrl, mailFrom } = yield* ConsoleConfig
  return yield* Effect.provide(previewMail(campaign, token, { publicBaseUrl, mailFrom }), throwawaySeal)
})

const respond = Effect.fnUntraced(function* (campaignId: CampaignId, part: Part, recipientId: RecipientId | undefined) {
  const campaign = yield* (yield* CampaignRepository).find(campaignId)
  const recipient =
    recipientId &&
    (yield* (yield* RecipientRepository).findAll(campaign.organizationId, [recipientId])).get(recipientId)
  if (recipientId !== undefined && recipient === undefined) return yield* new RecipientNotFound({ token: recipientId })
  const mail = yield* preview(campaign, recipient?.token)
  const plain = part === "text" ? `Subject: ${mail.subject}\n\n${mail.text}` : withoutPixel(mail.html)
  return framed(part, recipient === undefined ? plain : mask(plain, recipient))
})

const framed = (part: Part, content: string) =>
  HttpServerResponse.text(content, {
    contentType: part === "html" ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
    headers: { "content-security-policy": POLICY },
  })

/** Removes the tracking pixel: an operator's preview isn't an open, and the policy would block the image. */
const withoutPixel = (html: string): string => html.replaceAll(PIXEL, "")

const PIXEL = new RegExp(`<img src="https?://[^"]+${TRACKING_PATHS.open}[\\w-]{67}"[^>]*>`, "g")

const mask = (text: string, { email, npi }: { readonly email: string; readonly npi: string }): string =>
  text.replaceAll(email, maskEmail(email)).replaceAll(npi, "••••••••••")

const documents = (part: Part) =>
  [
    defineResource(`/campaigns/:campaign/mail/${part}`, {
      run: ({ campaign }) => respond(campaign, part, undefined),
    }),
    defineResource(`/campaigns/:campaign/mail/${part}/:recipient`, {
      role: "operator",
      command: "campaigns preview",
      run: ({ campaign, recipient }) => respond(campaign, part, recipient),
    }),
  ] as const

const mailInputs: Inputs = Record.mapKeys(MAIL_FIELDS, fieldName)

/** Shows the e-mail of a form that isn't saved, or its errors. It reads only, and the form may be too large for a URL. */
const previewAction = (part: Part) =>
  Struct.omit(
    defineAction(`/campaigns/:campaign/preview/${part}`, updateCampaign, {
      maxBytes: MAX_MAIL_FORM_BYTES,
      isRepeatable: true,
      // Parsed here: a rejected form would show its whole page in the frame.
      inputs: Record.map(mailInputs, () => Schema.String),
      run: Effect.fnUntraced(function* ({ campaign: campaignId, ...given }) {
        const { values, faults } = parseInputs(mailInputs, Object.entries(given))
        if (Object.keys(faults).length > 0) return framed("text", Object.values(faults).join("\n\n"))
        const campaign = yield* (yield* CampaignRepository).find(campaignId)
        return yield* composeEdits(campaign, valuesOf(MAIL_FIELDS, values)).pipe(
          Effect.flatMap((edits) => preview({ ...campaign, ...edits })),
          Effect.map(({ subject, html, text }) =>
            part === "text"
              ? framed(part, `Subject: ${subject}\n\n${text}`)
              : framed(part, insertAtStart(withoutPixel(html), `${SUBJECT_LINE}${escapeHtml(subject)}</p>`)),
          ),
          Effect.catch(({ message }) => Effect.succeed(framed("text", message))),
        )
      }),
    }),
    ["command"],
  )

const SUBJECT_LINE = '<p style="margin:0;padding:8px 12px;border-bottom:1px solid #ccc;font:600 14px sans-serif">'

const previews = { html: previewAction("html"), text: previewAction("text") }

const edit = operationAction("/campaigns/:campaign/edit", updateCampaign, { maxBytes: MAX_MAIL_FORM_BYTES })

const editPage = definePage("/campaigns/:campaign/edit", {
  role: "operator",
  run: Effect.fnUntraced(function* ({ campaign: id }) {
    const found = yield* findWritten(id)
    const isDraft = found.status === "draft"
    const params = { campaign: id }
    const fixed = isDraft ? [] : Object.keys(edit.inputs).filter((name) => !isLive(name))
    return (
      <Page title={foreign`Edit ${found.name}`} commands={[["campaigns update", id, { "per-minute": "500" }]]}>
        {!isDraft && (
          <p>
            This campaign is {found.status}, so its name, e-mail and window are fixed.{" "}
            <a href={`/campaigns/${id}`}>Duplicate it</a> to send another version.
          </p>
        )}
        <div class="halves">
          <ActionForm
            id="edit"
            action={edit}
            params={params}
            found={found}
            isPrimary
            controls={Object.fromEntries(fixed.map((name) => [name, false as const]))}
          />
          <Section title="Preview">
            {isDraft && (
              <p class="actions">
                {Record.toEntries(previews).map(([part, action]) => (
                  <button
                    key={part}
                    type="submit"
                    form="edit"
                    formNoValidate
                    formAction={pathTo(action, params)}
                    formTarget="preview"
                    data-preview
                  >
                    Preview as {part === "html" ? "HTML" : "text"}
                  </button>
                ))}
              </p>
            )}
            <iframe class="mail" name="preview" title="Preview" sandbox="" src={`/campaigns/${id}/mail/html`} />
          </Section>
        </div>
        <LinkLine to={`/campaigns/${id}`}>Back without changes</LinkLine>
      </Page>
    )
  }),
})

const isLive = (name: string): boolean => LIVE_FIELDS.some((key) => fieldName(key) === name)

export const campaignMail = [
  ...[campaignMailPage, ...documents("html"), ...documents("text")],
  ...[editPage, edit, previews.html, previews.text],
] as const
