import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import { oneOf } from "@outreach/backoffice/operations/Field"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { TRACKING_PATHS } from "@outreach/domain/hits/TrackingLinks"
import { type CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { maskEmail } from "@outreach/domain/recipients/Clinician"
import { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import { previewMail, RecipientNotFound } from "@outreach/mail/previewMail"
import { Effect, Struct } from "effect"
import { HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { Chips, Facts, LinkLine, Page, withQuery } from "../../components/layout.tsx"
import { foreign } from "../../components/values.tsx"
import { definePage, defineResource } from "../../http/Route.ts"

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
  const shown = recipient === undefined ? plain : mask(plain, recipient)
  return HttpServerResponse.text(shown, {
    contentType: part === "html" ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
    headers: { "content-security-policy": POLICY },
  })
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

export const campaignMail = [campaignMailPage, ...documents("html"), ...documents("text")] as const
