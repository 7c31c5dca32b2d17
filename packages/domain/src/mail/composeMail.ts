import { LinkifyIt } from "linkify-it"
import type { RecipientRef, TrackingLinks } from "../hits/TrackingLinks.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { RecipientFields } from "../recipients/RecipientFields.ts"
import { domainOf, type SenderIdentity } from "../senders/Sender.ts"
import type { TemplateVariables } from "../TemplateVariables.ts"
import { composeBody } from "./composeBody.ts"
import type { Mail } from "./Mailer.ts"
import type { MessageTemplate } from "./Message.ts"
import type { ReturnPaths } from "./ReturnPaths.ts"
import { cutAtLinks, trackingOf } from "./rewriteLinks.ts"
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
  /** Whether a worker receives what is sent to the domains of return paths. */
  readonly receivesMail: boolean
}

/** Reads a campaign's template once; the result composes the message to one recipient. */
export const composeMail = (
  template: MessageTemplate,
  settings: MailSettings,
): ((recipient: MailRecipient) => Mail) => {
  const { returnPaths, sender, receivesMail } = settings
  const links = sender.linkDomain === null ? settings.links : settings.links.at(sender.linkDomain)
  const domain = sender.bounceDomain ?? undefined
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
      // A line end would begin another header, and many spaces a line that looks like the end of all.
      subject: subject(variables).replaceAll(/\s*[\r\n]\s*|[ \t]{2,}/g, " "),
      ...body(recipient, variables),
      ...(text !== undefined && { text: text(recipient, variables) }),
      messageId: `<${recipient.recipientId}@${domainOf(sender.from.address)}>`,
      feedbackId: [recipient.campaignId, recipient.programId, recipient.organizationId, FEEDBACK_SENDER].join(":"),
      returnPath: returnPaths.of(recipient.recipientId, domain),
      unsubscribeUrl,
      unsubscribeAddress: receivesMail ? returnPaths.unsubscribe(recipient.recipientId, domain) : null,
    }
  }
}

// Only what begins with a scheme: a name with a dot may be anything.
const linkify = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })

/**
 * Reads a campaign's own text part once; the result composes it to one recipient. Its links are tracked as those of the HTML, and stay as
 * they are where the HTML excludes the same address.
 */
export const composeText = (
  text: string,
  { html }: Pick<MessageTemplate, "html">,
  links: TrackingLinks["Service"],
): ((to: RecipientRef, variables: TemplateVariables) => string) => {
  const render = compileTemplate(text, "text")
  const excludedLinks = cutAtLinks(html).pieces.flatMap(([, mark]) =>
    mark !== "pixel" && mark.isExcluded ? [mark.href] : [],
  )
  return (to, variables) => {
    const excluded = new Set(excludedLinks.map((link) => renderLink(link, variables)))
    const track = trackingOf(to, links)
    return replaceLinks(render(variables), (href) => (excluded.has(href) ? undefined : track(href)))
  }
}

/** Renders the address of a link; undefined where a part of a template is not an address on its own, or the recipient lacks a field. */
const renderLink = (href: string, variables: TemplateVariables): string | undefined => {
  try {
    return compileTemplate(href, "text")(variables).trim()
  } catch {
    return undefined
  }
}

/** Replaces each link by what `replace` returns; one for which that is undefined stays. */
const replaceLinks = (text: string, replace: (href: string) => string | undefined): string => {
  let replaced = ""
  let copied = 0
  for (const { index, lastIndex, url } of linkify.match(text) ?? []) {
    replaced += text.slice(copied, index) + (replace(url) ?? text.slice(index, lastIndex))
    copied = lastIndex
  }
  return replaced + text.slice(copied)
}
