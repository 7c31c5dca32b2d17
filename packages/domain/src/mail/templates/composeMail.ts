import type { RecipientRef, TrackingLinks } from "../../hits/TrackingLinks.ts"
import type { Recipient } from "../../recipients/Recipient.ts"
import type { RecipientFields } from "../../recipients/RecipientFields.ts"
import { domainOf, type SenderIdentity } from "../../senders/Sender.ts"
import type { MessageTemplate } from "../Message.ts"
import type { ReturnPaths } from "../returned/ReturnPaths.ts"
import type { Mail } from "../Transport.ts"
import { composeBody } from "./composeBody.ts"
import { compileTemplate, shortLinkTo } from "./Template.ts"

/** Last field of each Feedback-ID: Gmail requires the same 5 to 15 characters in all mail of a sender, and counts by signing domain. */
const FEEDBACK_SENDER = "outreach"

export interface MailRecipient extends RecipientRef, Pick<Recipient, "campaignId" | "programId" | "token" | "email"> {
  readonly fields?: RecipientFields
}

/** Common data of a campaign's messages, in addition to its template. */
export interface MailSettings {
  readonly links: TrackingLinks["Service"]
  readonly returnPaths: ReturnPaths["Service"]
  /** The domain of its address is the right-hand side of each Message-ID, so that the two are aligned. */
  readonly sender: SenderIdentity
  /** Whether a worker receives mail for return-path domains. */
  readonly receivesMail: boolean
}

/** Parses a campaign's template once. Returns a function that composes a recipient's message. */
export const composeMail = (
  template: MessageTemplate,
  settings: MailSettings,
): ((recipient: MailRecipient) => Mail) => {
  const { returnPaths, sender, receivesMail } = settings
  const links = sender.linkDomain === null ? settings.links : settings.links.at(sender.linkDomain)
  const domain = sender.bounceDomain ?? undefined
  const subject = compileTemplate(template.subject, "subject")
  const body = composeBody(template, links)
  return (recipient) => {
    const unsubscribeUrl = links.unsubscribe(recipient)
    const variables = {
      ...recipient.fields,
      token: recipient.token,
      campaign_name: template.campaignName,
      program_name: template.programName,
      unsubscribe_url: unsubscribeUrl,
      ...(template.senderName !== null && { sender_name: template.senderName }),
      ...(template.postalAddress !== null && { postal_address: template.postalAddress }),
      ...(template.shortLink !== null && { short_link: shortLinkTo(template.shortLink, recipient.token) }),
    }
    return {
      sender,
      to: recipient.email,
      // A line end would start another header, and many spaces could look like the end of all headers.
      subject: subject(variables).replaceAll(/\s*[\r\n]\s*|[ \t]{2,}/g, " "),
      ...body(recipient, variables),
      messageId: `<${recipient.recipientId}@${domainOf(sender.from.address)}>`,
      feedbackId: [recipient.campaignId, recipient.programId, recipient.organizationId, FEEDBACK_SENDER].join(":"),
      returnPath: returnPaths.of(recipient.recipientId, domain),
      unsubscribeUrl,
      unsubscribeAddress: receivesMail ? returnPaths.unsubscribe(recipient.recipientId, domain) : null,
    }
  }
}
