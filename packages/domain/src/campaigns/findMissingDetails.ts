import { findHiddenDetails, findMissingText, type SenderDetail } from "../mail/templates/findHiddenDetails.ts"
import { compileTemplate, sampleFields, shortLinkTo } from "../mail/templates/Template.ts"
import type { Program } from "../programs/Program.ts"
import { SAMPLE } from "../TemplateVariables.ts"
import type { Campaign } from "./Campaign.ts"

type SenderDetails = Pick<Program, "senderName" | "postalAddress">

/** Returns sample values for all template variables of a campaign. */
export const sampleVariables = (
  { fields, shortLink }: Pick<Campaign, "fields" | "shortLink">,
  { senderName, postalAddress }: SenderDetails,
) => ({
  ...sampleFields(fields),
  ...SAMPLE,
  sender_name: senderName ?? "",
  postal_address: postalAddress ?? "",
  ...(shortLink !== null && { short_link: shortLinkTo(shortLink, SAMPLE.token) }),
})

/** Lists the details that each part of a campaign's e-mail doesn't show, with the sender details of its program; null for none. */
export const findMissingDetails = (
  campaign: Pick<Campaign, "html" | "text" | "fields" | "shortLink">,
  program: SenderDetails,
): Readonly<Record<"html" | "text", ReadonlyArray<SenderDetail>>> => {
  const { html, text } = campaign
  const variables = sampleVariables(campaign, program)
  const { sender_name: senderName, postal_address: postalAddress } = variables
  const details = { senderName, postalAddress, unsubscribeUrl: SAMPLE.unsubscribe_url }
  return {
    html: findHiddenDetails(compileTemplate(html, "html")(variables), details),
    text: text === null ? [] : findMissingText(compileTemplate(text, "text")(variables), details),
  }
}
