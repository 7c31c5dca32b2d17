import type { RecipientFields } from "../../recipients/RecipientFields.ts"
import { SAMPLE } from "../../TemplateVariables.ts"
import type { MessageTemplate } from "../Message.ts"
import { createSchemeCheck, ForeignScheme } from "./createSchemeCheck.ts"
import { compileTemplate, shortLinkTo, templatesOf } from "./Template.ts"

/** Returns why a campaign's messages can't be rendered with a recipient's fields, or undefined. Names missing fields without quoting values. */
export type FieldsCheck = (fields: RecipientFields) => string | undefined

/** Creates the check of a campaign. */
export const createFieldsCheck = (
  campaign: Pick<MessageTemplate, "subject" | "html" | "text" | "shortLink" | "fields">,
): FieldsCheck => {
  if (campaign.fields.length === 0) return () => undefined
  const { shortLink } = campaign
  const variables = { ...SAMPLE, ...(shortLink !== null && { short_link: shortLinkTo(shortLink, SAMPLE.token) }) }
  const parts = templatesOf(campaign).map(({ part, template }) => ({
    part,
    render: compileTemplate(template, part),
  }))
  const checkSchemes = createSchemeCheck(campaign.html)
  return (fields) => {
    for (const { part, render } of parts) {
      try {
        const rendered = render({ ...fields, ...variables })
        if (part === "html") checkSchemes?.(rendered)
      } catch (error) {
        return `the ${part} ${renderFault(error)}`
      }
    }
    return undefined
  }
}

/** Describes why a template didn't render, following its name, without quoting values. */
export const renderFault = (error: unknown): string => {
  if (error instanceof ForeignScheme) return error.message
  const missing = error instanceof Error && /^undefined variable: (\w+)/.exec(error.message)?.[1]
  return missing ? `needs ${missing}, which is missing` : "does not render"
}
