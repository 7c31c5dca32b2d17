import { createHmac, randomBytes } from "node:crypto"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import { composeMail } from "@outreach/domain/outreach/composeMail"
import { ReturnPaths } from "@outreach/domain/outreach/ReturnPaths"
import { TrackingLinks } from "@outreach/domain/outreach/TrackingLinks"
import { TrackingSeal } from "@outreach/domain/outreach/TrackingSeal"
import { RecipientRegister } from "@outreach/domain/recipients/RecipientRegister"
import { domainOf, mailFrom } from "@outreach/mail/mailFrom"
import { mimeMessage } from "@outreach/mail/mimeMessage"
import { setting } from "@outreach/process/setting"
import { publicBaseUrl } from "@outreach/process/settings"
import { Config, Effect, Layer, Schema } from "effect"

/** The campaign has no recipient with this token. */
export class RecipientNotFound extends Schema.TaggedError<RecipientNotFound>()("RecipientNotFound", {
  token: Schema.String,
}) {
  override get message(): string {
    return `The campaign has no recipient with the token ${this.token}.`
  }
}

const NOBODY = { token: "aB3dE9", email: "recipient@example.invalid", recipientId: `rcp_${"0".repeat(32)}` } as const

/**
 * Renders the message to a recipient, or to nobody in particular, as it would be sent but for its signature.
 *
 * Its links are sealed with a key that nobody keeps, so that looking at it opens, clicks and unsubscribes nothing in the recipient's name.
 */
export const previewMail = Effect.fnUntraced(function* (campaign: Campaign, token: string | undefined) {
  const { organizationId, programId } = campaign
  const recipient = yield* token === undefined ? Effect.succeed(NOBODY) : findRecipient(campaign, token)
  const { program } = (yield* (yield* CampaignBook).summaries(organizationId, [campaign.id])).get(campaign.id)!
  const isFromSet = (yield* Config.String("MAIL_FROM").pipe(Config.withDefault(""))) !== ""
  const from = isFromSet
    ? yield* setting("MAIL_FROM", mailFrom)
    : { name: program.name, address: "outreach@example.invalid" }
  const settings = yield* Effect.all({ links: TrackingLinks, returnPaths: ReturnPaths }).pipe(
    Effect.provide(Layer.merge(TrackingLinks.below(yield* publicBaseUrl), ReturnPaths.at(domainOf(from)))),
    Effect.provideService(TrackingSeal, throwawaySeal()),
  )
  const template = { ...campaign, campaignName: campaign.name, programName: program.name }
  const mail = composeMail(template, { ...settings, mailDomain: domainOf(from) })({ ...recipient, organizationId })
  return { programId, subject: mail.subject, html: mail.html, eml: Buffer.from(mimeMessage(mail, from).raw) }
})

const findRecipient = Effect.fnUntraced(function* ({ organizationId, id }: Campaign, token: string) {
  const recipient = yield* (yield* RecipientRegister).find(organizationId, token)
  if (recipient?.campaignId !== id) return yield* new RecipientNotFound({ token })
  return { token, email: recipient.email, recipientId: recipient.id }
})

const throwawaySeal = () => {
  const key = randomBytes(32)
  return { seal: (bytes: Uint8Array) => createHmac("sha256", key).update(bytes).digest().subarray(0, 16) }
}
