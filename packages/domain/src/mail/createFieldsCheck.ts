import type { Campaign } from "../campaigns/Campaign.ts"
import type { RecipientFields } from "../recipients/RecipientFields.ts"
import { shortLinkTo } from "./composeMail.ts"
import { compileTemplate, SAMPLE } from "./Template.ts"

/** What a campaign's messages are rendered from. */
export type RenderedCampaign = Pick<Campaign, "subject" | "html" | "text" | "shortLink" | "fields">

/**
 * Creates the function that returns why the messages of a campaign cannot be rendered with a recipient's fields, or undefined.
 *
 * The reason names the field that is missing, and never the value of one.
 */
export const createFieldsCheck = (campaign: RenderedCampaign): ((fields: RecipientFields) => string | undefined) => {
  if (campaign.fields.length === 0) return () => undefined
  const { shortLink } = campaign
  const variables = { ...SAMPLE, ...(shortLink !== null && { short_link: shortLinkTo(shortLink, SAMPLE.token) }) }
  const parts = (["subject", "html", "text"] as const).flatMap((part) => {
    const template = campaign[part]
    return template === null ? [] : [{ part, render: compileTemplate(template, part) }]
  })
  return (fields) => {
    for (const { part, render } of parts) {
      try {
        render({ ...fields, ...variables })
      } catch (error) {
        return `the ${part} ${renderFault(error)}`
      }
    }
    return undefined
  }
}

/** Says why a template did not render, to follow its name. Repeats no value. */
export const renderFault = (error: unknown): string => {
  const missing = error instanceof Error && /^undefined variable: (\w+)/.exec(error.message)?.[1]
  return missing ? `needs ${missing}, which is missing` : "does not render"
}
