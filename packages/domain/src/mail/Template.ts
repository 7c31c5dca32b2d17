import { Liquid } from "liquidjs"
import type { RecipientFields } from "../recipients/RecipientFields.ts"

/** What every campaign's subject and body may name, beside the fields of recipients. */
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

export type TemplatePart = "subject" | "html" | "text"

// Own properties only and strict names: a template reaches nothing but its variables, and a misspelt one is an error at once.
// A recipient may lack a field, which conditions and the filter `default` allow.
const options = { ownPropertyOnly: true, strictVariables: true, lenientIf: true, strictFilters: true } as const
const plain = new Liquid(options)
const engines = { subject: plain, text: plain, html: new Liquid({ ...options, outputEscape: "escape" }) }

/** What templates are tried with, before there is a recipient. */
export const SAMPLE: TemplateVariables = {
  token: "aB3dE9",
  campaign_name: "Campaign",
  program_name: "Program",
  sender_name: "Sender",
  postal_address: "Postal address",
  unsubscribe_url: "https://outreach.test/unsubscribe/x",
}

/** What every template may name. */
export const VARIABLE_NAMES: ReadonlySet<string> = new Set([...Object.keys(SAMPLE), "short_link"])

/** Returns a value for each field that shows its name. */
export const sampleFields = (names: ReadonlyArray<string>): RecipientFields =>
  Object.fromEntries(names.map((name) => [name, `[${name}]`]))

/** Returns why a text is not a template that renders, or undefined. It may name the variables of every template, and `more`. */
export const checkTemplate = (
  text: string,
  part: TemplatePart,
  more: Partial<TemplateVariables> | RecipientFields = {},
): string | undefined => {
  try {
    const values = { ...SAMPLE, ...more }
    const unknown = engines[part].globalVariablesSync(text).find((name) => !Object.hasOwn(values, name))
    if (unknown !== undefined) {
      return `it names ${unknown}, which is neither a variable of every template nor a field that --fields declares`
    }
    const rendered = compileTemplate(text, part)(values)
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
