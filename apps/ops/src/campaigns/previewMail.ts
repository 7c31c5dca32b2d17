import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { RecipientId } from "@outreach/domain/Identifier"
import type { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { domainOf, mailFrom } from "@outreach/mail/mailFrom"
import { mimeMessage } from "@outreach/mail/mimeMessage"
import { setting } from "@outreach/process/setting"
import { Config, Effect, Schema } from "effect"
import { PLACEHOLDER_TOKEN, programOf, renderMail } from "./renderMail.ts"

/** The campaign has no recipient with this token. */
export class RecipientNotFound extends Schema.TaggedError<RecipientNotFound>()("RecipientNotFound", {
  token: Schema.String,
}) {
  override get message(): string {
    return `The campaign has no recipient with the token ${this.token}.`
  }
}

const PLACEHOLDER = {
  token: PLACEHOLDER_TOKEN,
  email: "recipient@example.invalid" as EmailAddress,
  recipientId: RecipientId.make(`rcp_${"0".repeat(32)}`),
}

/** Renders the message to a recipient, or to a placeholder recipient without `token`. Its links record nothing. */
export const previewMail = Effect.fnUntraced(function* (campaign: Campaign, token: string | undefined) {
  const recipient = yield* token === undefined ? Effect.succeed(PLACEHOLDER) : findRecipient(campaign, token)
  const isFromSet = (yield* Config.String("MAIL_FROM").pipe(Config.withDefault(""))) !== ""
  const from = isFromSet
    ? yield* setting("MAIL_FROM", mailFrom)
    : { name: (yield* programOf(campaign)).name, address: "outreach@example.invalid" }
  const mail = yield* renderMail(campaign, recipient, { domain: domainOf(from), bounceDomain: domainOf(from) })
  return { subject: mail.subject, html: mail.html, eml: Buffer.from(mimeMessage(mail, from).raw) }
})

const findRecipient = Effect.fnUntraced(function* ({ organizationId, id }: Campaign, token: string) {
  const recipient = yield* (yield* RecipientRepository).find(organizationId, token)
  if (recipient?.campaignId !== id) return yield* new RecipientNotFound({ token })
  return { token, email: recipient.email, recipientId: recipient.id }
})
