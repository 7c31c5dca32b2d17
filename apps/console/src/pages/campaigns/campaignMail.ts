import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { TRACKING_PATHS } from "@outreach/domain/hits/TrackingLinks"
import type { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { previewMail, RecipientNotFound } from "@outreach/mail/previewMail"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { defineResource } from "../../http/Route.ts"

/** Nothing but the e-mail's own styles: no script, no image or font from elsewhere, no form, and no way out of the frame. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"

type Part = "html" | "text"

/** Renders the e-mail to a recipient, or to a placeholder without `token`. */
export const preview = Effect.fnUntraced(function* (campaign: Campaign, token?: string) {
  const { publicBaseUrl, mailFrom } = yield* ConsoleConfig
  return yield* Effect.provide(previewMail(campaign, token, { publicBaseUrl, mailFrom }), throwawaySeal)
})

const respond = Effect.fnUntraced(function* (campaignId: CampaignId, part: Part, recipientId: RecipientId | undefined) {
  const { publicBaseUrl } = yield* ConsoleConfig
  const campaign = yield* (yield* CampaignRepository).find(campaignId)
  const recipient =
    recipientId &&
    (yield* (yield* RecipientRepository).findAll(campaign.organizationId, [recipientId])).get(recipientId)
  if (recipientId !== undefined && recipient === undefined) return yield* new RecipientNotFound({ token: recipientId })
  const mail = yield* preview(campaign, recipient?.token)
  const plain = part === "text" ? withSubjects(mail) : withoutPixel(mail.html, publicBaseUrl)
  const shown = recipient === undefined ? plain : mask(plain, recipient)
  return HttpServerResponse.text(shown, {
    contentType: part === "html" ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
    headers: { "content-security-policy": POLICY },
  })
})

const withSubjects = ({ subject, subjectB, text }: Effect.Success<ReturnType<typeof preview>>): string =>
  [`Subject: ${subject}`, ...(subjectB === undefined ? [] : [`Subject B: ${subjectB}`]), "", text].join("\n")

/** Leaves out the pixel that shows an opening: an operator's look is not an opening, and the policy would block the image. */
const withoutPixel = (html: string, publicBaseUrl: string): string =>
  html.replaceAll(/<img\b[^>]*>/g, (tag) => (tag.includes(`${publicBaseUrl}${TRACKING_PATHS.open}`) ? "" : tag))

const mask = (text: string, { email, npi }: { readonly email: string; readonly npi: string }): string =>
  text.replaceAll(email, maskEmail(email)).replaceAll(npi, "••••••••••")

const sample = (part: Part) =>
  defineResource({
    path: `/campaigns/:campaign/mail/${part}`,
    respond: ({ campaign }) => respond(campaign, part, undefined),
  })

const toRecipient = (part: Part) =>
  defineResource({
    path: `/campaigns/:campaign/mail/${part}/:recipient`,
    role: "operator",
    command: "campaigns preview",
    respond: ({ campaign, recipient }) => respond(campaign, part, recipient),
  })

/** The content of the frames that show an e-mail. */
export const campaignMail = [sample("html"), sample("text"), toRecipient("html"), toRecipient("text")] as const
