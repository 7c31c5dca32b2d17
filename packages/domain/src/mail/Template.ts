import { Liquid } from "liquidjs"

/** What a campaign's subject and body may name. */
export interface TemplateVariables {
  readonly token: string
  readonly campaign_name: string
  readonly program_name: string
  /** Who sends the e-mail, and the postal address; only in programs that have them. */
  readonly sender_name?: string
  readonly postal_address?: string
  /** Shows the page on which the recipient unsubscribes. */
  readonly unsubscribe_url: string
  /** The partner's own link to the recipient's token; only in campaigns that have one. */
  readonly short_link?: string
}

export type TemplatePart = "subject" | "html"

// Own properties only and strict names: a template reaches nothing but its variables, and a misspelt one is an error at once.
const options = { ownPropertyOnly: true, strictVariables: true, strictFilters: true } as const
const engines = { subject: new Liquid(options), html: new Liquid({ ...options, outputEscape: "escape" }) }

/** What templates are tried with, before there is a recipient. */
export const SAMPLE: TemplateVariables = {
  token: "aB3dE9",
  campaign_name: "Campaign",
  program_name: "Program",
  sender_name: "Sender",
  postal_address: "Postal address",
  unsubscribe_url: "https://outreach.test/unsubscribe/x",
}

/** Returns why a text is not a template that renders, or undefined. */
export const checkTemplate = (
  text: string,
  part: TemplatePart,
  more: Partial<TemplateVariables> = {},
): string | undefined => {
  try {
    const rendered = compileTemplate(text, part)({ ...SAMPLE, ...more })
    return rendered.trim() === "" ? "it renders to nothing" : undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Reads a template that `checkTemplate` has accepted, once for many renderings; what is named in HTML is escaped. */
export const compileTemplate = (text: string, part: TemplatePart): ((variables: TemplateVariables) => string) => {
  const engine = engines[part]
  const template = engine.parse(text)
  return (variables) => engine.renderSync(template, { ...variables })
}

const renderNamed = compileTemplate("{{ token }}", "html")

/** Escapes a text as an HTML template does what it names. */
export const escapeHtml = (text: string): string =>
  /[&<>"']/.test(text) ? renderNamed({ ...SAMPLE, token: text }) : text
