import { Liquid } from "liquidjs"
import { type RecipientFields, SAMPLE, type TemplateVariables } from "../../recipients/RecipientFields.ts"
import type { MessageTemplate } from "../Message.ts"
import { createSchemeCheck, ForeignScheme, findRelativeAddress } from "./createSchemeCheck.ts"

export type TemplatePart = "subject" | "preheader" | "html" | "text"

// Own properties only and strict names: a template can use only its variables, and a misspelt one is an immediate error.
// A recipient may lack a field, which conditions and the filter `default` allow.
const options = { ownPropertyOnly: true, strictVariables: true, lenientIf: true, strictFilters: true } as const
const plain = new Liquid(options)
const engines = {
  subject: plain,
  preheader: plain,
  text: plain,
  html: new Liquid({ ...options, outputEscape: "escape" }),
}

/** Lists the templates of a campaign. */
const templatesOf = ({ subject, preheader, html, text }: Pick<MessageTemplate, TemplatePart>) =>
  Object.entries({ subject, preheader, html, text }).flatMap(([part, template]) =>
    template === null ? [] : [{ part: part as TemplatePart, template }],
  )

/** Returns the names of fields as sample values. */
export const sampleFields = (names: ReadonlyArray<string>): RecipientFields =>
  Object.fromEntries(names.map((name) => [name, `[${name}]`]))

/** Returns sample values for all template variables of a campaign. */
export const sampleVariables = ({ fields, shortLink }: Pick<MessageTemplate, "fields" | "shortLink">) => ({
  ...sampleFields(fields),
  ...SAMPLE,
  ...(shortLink !== null && { short_link: shortLinkTo(shortLink, SAMPLE.token) }),
})

/** Returns the first invalid template of a campaign with the reason, or undefined. */
export const findInvalidTemplate = (
  campaign: Pick<MessageTemplate, TemplatePart | "fields" | "shortLink">,
  { senderName, postalAddress }: Pick<MessageTemplate, "senderName" | "postalAddress">,
): { readonly part: TemplatePart; readonly reason: string } | undefined => {
  const details = {
    ...(senderName !== null && { sender_name: senderName }),
    ...(postalAddress !== null && { postal_address: postalAddress }),
  }
  for (const { part, template } of templatesOf(campaign)) {
    const reason = checkTemplate(template, part, { ...sampleVariables(campaign), ...details })
    if (reason !== undefined) return { part, reason }
  }
  return undefined
}

/** Returns why text isn't a valid template, or undefined. It may use the common variables and `more`. */
export const checkTemplate = (
  text: string,
  part: TemplatePart,
  more: Partial<TemplateVariables> | RecipientFields = {},
): string | undefined => {
  try {
    const values = { ...SAMPLE, ...more }
    const unknown = engines[part].globalVariablesSync(text).find((name) => !Object.hasOwn(values, name))
    if (unknown !== undefined) {
      return unknown === "short_link"
        ? "it names short_link, and the campaign has no short link; add one, or remove the name"
        : `it names ${unknown}, which is neither a variable of every template nor a declared field of recipients; correct the name, or declare the field`
    }
    const rendered = compileTemplate(text, part)(values)
    if (rendered.trim() === "") return "it renders to an empty text"
    const relative = part === "html" ? findRelativeAddress(text) : undefined
    return relative === undefined
      ? undefined
      : `it has the relative address "${relative}", which doesn't work in an e-mail; write the complete https address`
  } catch (error) {
    return (error as Error).message
  }
}

/** Compiles a template that `checkTemplate` accepted; values are escaped in HTML. */
export const compileTemplate = (text: string, part: TemplatePart): ((variables: TemplateVariables) => string) => {
  const engine = engines[part]
  const template = engine.parse(text)
  const [first, ...pieces] = text.split(CODE)
  if (/\{%|\{\{-|-\}\}/.test(text) || [first, ...pieces].some((piece) => piece!.includes("{{"))) {
    return (variables) => engine.renderSync(template, { ...variables })
  }
  // Without tags, each output is rendered separately: the template language takes long for a plain variable.
  const outputs = Array.from(text.matchAll(CODE), ([output]) => compileOutput(output, part))
  return (variables) => pieces.reduce((rendered, piece, i) => rendered + outputs[i]!(variables) + piece, first!)
}

const compileOutput = (output: string, part: TemplatePart) => {
  const template = engines[part].parse(output)
  const [, name = ""] = /^\{\{\s*(\w+)\s*\}\}$/.exec(output) ?? []
  return (variables: TemplateVariables): string => {
    if (!Object.hasOwn(variables, name)) return engines[part].renderSync(template, { ...variables })
    const value = (variables as TemplateVariables & RecipientFields)[name]!
    return part === "html" ? escapeHtml(value) : value
  }
}

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (it) => ESCAPED[it]!)

const ESCAPED: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" }

/** Outputs and tags. */
const CODE = /\{\{(?:[^"'}]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\}(?!\}))*\}\}|\{%.*?%\}/gs

/** Replaces the outputs and tags of a template by words of private-use letters, so that an HTML parser reads them as text. `restore` puts them back. */
export const hideCode = (template: string) => {
  const codes: Array<string> = []
  const hidden = template.replaceAll(CODE, (code) => `\uE000${codes.push(code) - 1}\uE001`)
  const restore = (text: string): string => text.replaceAll(/\uE000(\d+)\uE001/g, (word, index) => codes[index] ?? word)
  /** The same for text that an HTML parser decoded: braces that were written as references are not code. */
  const restoreDecoded = (text: string): string => restore(text.replaceAll(/\{(?=[{%\uE000])/g, '{{ "{" }}'))
  return { hidden, restore, restoreDecoded, codes }
}

/** Inserts a token into the partner's own link, in place of `{token}`. */
export const shortLinkTo = (shortLink: string, token: string): string => shortLink.replace("{token}", token)

/** Creates the function that returns why a campaign's messages can't be rendered with a recipient's fields, or undefined. Names missing fields without quoting values. */
export const createFieldsCheck = (
  campaign: Pick<MessageTemplate, TemplatePart | "shortLink" | "fields">,
): ((fields: RecipientFields) => string | undefined) => {
  if (campaign.fields.length === 0) return () => undefined
  const variables = sampleVariables({ ...campaign, fields: [] })
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
