import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import type { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { DescribedError } from "@outreach/domain/DescribedError"
import { RecipientId } from "@outreach/domain/Identifier"
import { createFieldsCheck } from "@outreach/domain/mail/templates/Template"
import type { EmailAddress } from "@outreach/domain/recipients/Clinician"
import { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import { domainOf, type Mailbox, type SenderIdentity, verifiedLinkDomain } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { Effect } from "effect"
import { mimeMessage } from "./mimeMessage.ts"
import { PLACEHOLDER_TOKEN, programOf, type RenderOptions, renderMail } from "./renderMail.ts"

export class RecipientNotFound extends DescribedError(
  "RecipientNotFound",
  "The campaign has no recipient with the token {token}.",
) {}

export class RecipientNotRendered extends DescribedError(
  "RecipientNotRendered",
  "The e-mail to the recipient {token} does not render: {reason}.",
) {}

const PLACEHOLDER = {
  token: PLACEHOLDER_TOKEN,
  email: "recipient@example.invalid" as EmailAddress,
  recipientId: RecipientId.make(`rcp_${"0".repeat(32)}`),
}

/** Renders the message for a recipient, or for a placeholder recipient without `token`. */
export const previewMail = Effect.fnUntraced(function* (
  campaign: Campaign,
  token: string | undefined,
  settings: Pick<RenderOptions, "publicBaseUrl"> & {
    /** The deployment's own sender; null if this process doesn't know it. */
    readonly mailFrom: Mailbox | null
  },
) {
  const recipient = yield* token === undefined ? Effect.succeed(PLACEHOLDER) : findRecipient(campaign, token)
  const sender = yield* senderOf(campaign, settings.mailFrom)
  const { publicBaseUrl } = settings
  // The unsubscribe address needs a seal key that this process doesn't have.
  const options = { sender, bounceDomain: domainOf(sender.from.address), publicBaseUrl, receivesMail: false }
  const mail = yield* renderMail(campaign, recipient, options)
  return {
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    eml: Buffer.from(mimeMessage(mail)),
  }
})

/** Returns the campaign's sender without keys: previews aren't signed. */
const senderOf = Effect.fnUntraced(function* (
  campaign: Campaign,
  mailFrom: Mailbox | null,
): Effect.fn.Return<SenderIdentity, never, CampaignRepository | SenderRepository> {
  const sender = yield* (yield* SenderRepository).ofCampaign(campaign.id)
  if (sender !== null) {
    const { id, replyTo, bounceDomain } = sender
    const from = { name: sender.fromName, address: sender.fromAddress }
    return { id, from, replyTo, bounceDomain, linkDomain: verifiedLinkDomain(sender), dkim: null }
  }
  const from = mailFrom ?? { name: (yield* programOf(campaign)).name, address: "outreach@example.invalid" }
  return { id: null, from, replyTo: null, bounceDomain: null, linkDomain: null, dkim: null }
})

const findRecipient = Effect.fnUntraced(function* (campaign: Campaign, token: string) {
  const { organizationId, id } = campaign
  const recipient = yield* (yield* RecipientRepository).find(organizationId, token)
  if (recipient?.campaignId !== id) return yield* new RecipientNotFound({ token })
  const found = yield* (yield* RecipientRepository).findFields(organizationId, [recipient.id])
  const fields = found.get(recipient.id) ?? {}
  const reason = createFieldsCheck(campaign)(fields)
  if (reason !== undefined) return yield* new RecipientNotRendered({ token, reason })
  return { token, email: recipient.email, recipientId: recipient.id, fields }
})
