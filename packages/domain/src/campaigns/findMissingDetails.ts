import { findHiddenDetails, findMissingText, type SenderDetail } from "../mail/templates/findHiddenDetails.ts"
import { compileTemplate, sampleFields, shortLinkTo } from "../mail/templates/Template.ts"
import type { Program } from "../programs/Program.ts"
import { SAMPLE } from "../TemplateVariables.ts"
import type { Campaign } from "./Campaign.ts"

/** Returns sample values for all template variables of a campaign. */
export const sampleVariables = (
  { fields, shortLink }: Pick<Campaign, "fields" | "shortLink">,
  { senderName, postalAddress }: { readonly senderName: string; readonly postalAddress: string },
) => ({
  ...sampleFields(fields),
  ...SAMPLE,
  sender_name: senderName,
  postal_address: postalAddress,
  ...(shortLink !== null && { short_link: shortLinkTo(shortLink, SAMPLE.token) }),
})

/** Lists the sender details that each part of a campaign's e-mail doesn't show with these values. */
export const findMissingDetails = (
  { html, text }: Pick<Campaign, "html" | "text">,
  variables: ReturnType<typeof sampleVariables>,
): Readonly<Record<"html" | "text", ReadonlyArray<SenderDetail>>> => {
  const { sender_name: senderName, postal_address: postalAddress } = variables
  const details = { senderName, postalAddress, unsubscribeUrl: SAMPLE.unsubscribe_url }
  return {
    html: findHiddenDetails(compileTemplate(html, "html")(variables), details),
    text: text === null ? [] : findMissingText(compileTemplate(text, "text")(variables), details),
  }
}

/** Same for a stored campaign, with its program's current sender details; null for none. */
export const findMissingDetailsOf = (
  campaign: Campaign,
  { senderName, postalAddress }: Pick<Program, "senderName" | "postalAddress">,
): ReadonlyArray<SenderDetail> => {
  const absent = [
    ...(senderName === null ? (["senderName"] as const) : []),
    ...(postalAddress === null ? (["postalAddress"] as const) : []),
  ]
  const variables = sampleVariables(campaign, { senderName: senderName ?? "", postalAddress: postalAddress ?? "" })
  const { html, text } = findMissingDetails(campaign, variables)
  return [...new Set([...absent, ...html, ...text])]
}
