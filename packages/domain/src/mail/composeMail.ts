import type { RecipientRef, TrackingLinks } from "../hits/TrackingLinks.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { RecipientFields } from "../recipients/RecipientFields.ts"
import { domainOf, type SenderIdentity } from "../senders/Sender.ts"
import { composeBody } from "./composeBody.ts"
import { composeText } from "./composeText.ts"
import type { Mail } from "./Mailer.ts"
import type { MessageTemplate } from "./Message.ts"
import type { ReturnPaths } from "./ReturnPaths.ts"
import { compileTemplate, shortLinkTo } from "./Template.ts"

/** The last field of each Feedback-ID: Gmail wants the same 5 to 15 characters in all mail of a sender, and counts by the signing domain. */
const FEEDBACK_SENDER = "outreach"

export interface MailRecipient extends RecipientRef, Pick<Recipient, "campaignId" | "programId" | "token" | "email"> {
  readonly fields?: RecipientFields
}

/** What the messages of a campaign have in common beside its template. */
export interface MailSettings {
  readonly links: TrackingLinks["Service"]
  readonly returnPaths: ReturnPaths["Service"]
  /** The domain of its address is the right-hand side of each Message-ID, so that the two are aligned. */
  readonly sender: SenderIdentity
}

/** Reads a campaign's template once; the result composes the message to one recipient. */
export const composeMail = (
  template: MessageTemplate,
  settings: MailSettings,
): ((recipient: MailRecipient) => Mail) => {
  const { links, returnPaths, sender } = settings
  const subject = compileTemplate(template.subject, "subject")
  const body = composeBody(template, links)
  const text = template.text === null ? undefined : composeText(template.text, template, links)
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
      // A line end would begin another header.
      subject: subject(variables).replaceAll(/\s*[\r\n]\s*/g, " "),
      ...body(recipient, variables),
      ...(text !== undefined && { text: text(recipient, variables) }),
      messageId: `<${recipient.recipientId}@${domainOf(sender.from.address)}>`,
      feedbackId: [recipient.campaignId, recipient.programId, recipient.organizationId, FEEDBACK_SENDER].join(":"),
      returnPath: returnPaths.of(recipient.recipientId, sender.bounceDomain ?? undefined),
      unsubscribeUrl,
    }
  }
}
