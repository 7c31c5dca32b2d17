import { compile } from "html-to-text"
import type { RecipientRef, TrackingLinks } from "../../hits/TrackingLinks.ts"
import type { RecipientFields } from "../../recipients/RecipientFields.ts"
import type { TemplateVariables } from "../../TemplateVariables.ts"
import type { MessageTemplate } from "../Message.ts"
import { createSchemeCheck } from "./createSchemeCheck.ts"
import { isReplaceable } from "./isReplaceable.ts"
import { cutAtLinks, pixelTo, rewriteLinks, trackingOf } from "./rewriteLinks.ts"
import { compileTemplate, escapeHtml } from "./Template.ts"

export interface MailBody {
  readonly html: string
  readonly text: string
}

type ComposeBody = (to: RecipientRef, variables: TemplateVariables) => MailBody

/** Variables that differ between recipients, in addition to fields. */
const RECIPIENTS_OWN: ReadonlySet<string> = new Set(["token", "unsubscribe_url", "short_link"])

/** Private-use characters, which parsers treat as letters, as placeholders of values that differ between recipients. */
const PLACEHOLDER = { token: "\uE000", unsubscribeUrl: "\uE001", shortLink: "\uE002", pixel: "\uE003" } as const
/** Code points of placeholders for fields and filtered recipient values. */
const FIRST_VALUE = 0xe010
const LAST_VALUE = 0xe0ff
/** Code points of placeholders for tracked links. */
const FIRST_LINK = 0xe100
const LAST_LINK = 0xf8ff
const ANY_PLACEHOLDER = /([\uE000-\uF8FF])/
const ALL_PLACEHOLDERS = new RegExp(ANY_PLACEHOLDER, "g")
const VALUE_PLACEHOLDER = /[\uE010-\uE0FF]/
const URL_PLACEHOLDERS = new RegExp(`[${PLACEHOLDER.unsubscribeUrl}${PLACEHOLDER.shortLink}]`, "g")

/** A character of that range as a numeric reference. */
const NUMERIC_PLACEHOLDER = /&#(x0*[ef][\da-f]{3}(?![\da-f])|0*(5[7-9]|6[0-3])\d{3}(?!\d))/i

/** A variable with filters that depend on no other value. */
const OUTPUTS =
  /\{\{(-?)\s*(\w+\s*(?:\|\s*(?:capitalize|default|downcase|strip|upcase|url_encode)\b[^{}|]*?)*)(-?)\}\}/g

/** A value without spaces that change when HTML is converted to text. */
const KEEPS_SPACES = /^[^\s\u200B]+(?: [^\s\u200B]+)*$/

/**
 * Parses a campaign's HTML once. Returns a function that composes a recipient's body with tracked links.
 *
 * If the HTML only inserts variables, it is rendered, searched for links and converted to text once for all recipients, with
 * placeholders for their values. Doing so for each recipient would cost almost as much as sending.
 */
export const composeBody = (template: MessageTemplate, links: TrackingLinks["Service"]): ComposeBody => {
  const { html, campaignName, programName, senderName, postalAddress, shortLink } = template
  const render = compileTemplate(html, "html")
  const checkSchemes = createSchemeCheck(html)
  const composeEach: ComposeBody = (to, variables) => {
    const rendered = render(variables)
    checkSchemes?.(rendered)
    const rewritten = rewriteLinks(rendered, to, links)
    // The text excludes the pixel, which could add a line.
    return { html: rewritten, text: mailText(rewritten.replace(pixelTo(to, links), "")) }
  }
  if (checkSchemes !== undefined) return composeEach
  if (/\{[{%]/.test(html.replaceAll(OUTPUTS, "")) || NUMERIC_PLACEHOLDER.test(html)) return composeEach
  if (ANY_PLACEHOLDER.test(html + campaignName + programName + senderName + postalAddress)) return composeEach
  const { named, values } = placeValues(html, template.fields)
  if (FIRST_VALUE + values.length > LAST_VALUE) return composeEach
  let prepared: string
  try {
    prepared = compileTemplate(
      named,
      "html",
    )({
      token: PLACEHOLDER.token,
      campaign_name: campaignName,
      program_name: programName,
      ...(senderName !== null && { sender_name: senderName }),
      ...(postalAddress !== null && { postal_address: postalAddress }),
      unsubscribe_url: PLACEHOLDER.unsubscribeUrl,
      ...(shortLink !== null && { short_link: PLACEHOLDER.shortLink }),
      ...Object.fromEntries(values.map(({ name, placeholder }) => [name, placeholder])),
    })
  } catch {
    // It fails for each message instead of for all campaigns at once.
    return composeEach
  }
  const compose = isReplaceable(prepared, "\uE000-\uE0FF") ? createFiller(prepared, links) : undefined
  if (compose === undefined) return composeEach
  return (to, variables) => {
    const texts = values.map(({ placeholder, evaluate }) => [placeholder, evaluate(variables)] as const)
    // The conversion to text joins other spaces, and drops empty elements.
    return texts.every(([, text]) => KEEPS_SPACES.test(text))
      ? compose(to, variables, texts)
      : composeEach(to, variables)
  }
}

/** Placeholder of an output that differs between recipients. */
interface ValuePlaceholder {
  /** The variable used instead. */
  readonly name: string
  readonly placeholder: string
  readonly evaluate: (variables: TemplateVariables) => string
}

/** Replaces outputs of fields and filtered recipient values by placeholders. */
const placeValues = (
  html: string,
  fields: ReadonlyArray<string>,
): { readonly named: string; readonly values: ReadonlyArray<ValuePlaceholder> } => {
  const differing = new Set([...fields, ...RECIPIENTS_OWN])
  const values = new Map<string, ValuePlaceholder>()
  const named = html.replaceAll(OUTPUTS, (output, before: string, written: string, after: string) => {
    const expression = written.trim()
    if (RECIPIENTS_OWN.has(expression) || !expression.match(/\w+/g)!.some((word) => differing.has(word))) return output
    const name = values.get(expression)?.name ?? `_${values.size}`
    const placeholder = String.fromCharCode(FIRST_VALUE + values.size)
    // A plain variable doesn't need the template language, unless it is missing.
    const render = compileTemplate(`{{ ${expression} }}`, "subject")
    const evaluate = (variables: TemplateVariables): string =>
      Object.hasOwn(variables, expression)
        ? (variables as RecipientFields & TemplateVariables)[expression]!
        : render(variables)
    if (!values.has(expression)) values.set(expression, { name, placeholder, evaluate })
    return `{{${before} ${name} ${after}}}`
  })
  return { named, values: [...values.values()] }
}

/** Creates the function that replaces placeholders by a recipient's values; undefined if they can't represent all differences. */
const createFiller = (prepared: string, links: TrackingLinks["Service"]) => {
  const trackedLinks: Array<{ readonly placeholder: string; readonly href: Segments; readonly attribute: Segments }> =
    []
  let html = ""
  let textual = ""
  const { pieces, rest } = cutAtLinks(prepared)
  if (FIRST_LINK + pieces.length > LAST_LINK) return undefined
  const hrefs = pieces.flatMap(([, link]) => (link === "pixel" || link.href === "" ? [] : [link.href]))
  // Spaces around a tracked link are dropped, and those within an untracked one are joined.
  if (hrefs.some((href) => !KEEPS_SPACES.test(href))) return undefined
  for (const [before, link] of pieces) {
    html += before
    textual += before
    if (link === "pixel") html += PLACEHOLDER.pixel
    else if (!link.isExcluded && isWeb(link.href)) {
      const placeholder = String.fromCharCode(FIRST_LINK + trackedLinks.length)
      trackedLinks.push({
        placeholder,
        href: splitAtPlaceholders(link.href),
        attribute: splitAtPlaceholders(link.attribute),
      })
      html += placeholder
      textual += `href="${placeholder}"`
    } else {
      html += link.attribute
      textual += link.attribute
    }
  }
  const inHtml = splitAtPlaceholders(html + rest)
  const inText = splitAtPlaceholders(mailText(textual + rest))

  return (
    to: RecipientRef,
    { token, unsubscribe_url, short_link = "" }: TemplateVariables,
    texts: ReadonlyArray<readonly [placeholder: string, text: string]>,
  ): MailBody => {
    const plainValues = new Map<string, string>([
      ...texts,
      [PLACEHOLDER.token, token],
      [PLACEHOLDER.unsubscribeUrl, unsubscribe_url],
      [PLACEHOLDER.shortLink, short_link],
    ])
    const htmlValues = new Map<string, string>([
      ...texts.map(([placeholder, text]) => [placeholder, escapeHtml(text)] as const),
      [PLACEHOLDER.token, escapeHtml(token)],
      [PLACEHOLDER.unsubscribeUrl, escapeHtml(unsubscribe_url)],
      [PLACEHOLDER.shortLink, escapeHtml(short_link)],
      [PLACEHOLDER.pixel, pixelTo(to, links)],
    ])
    const track = trackingOf(to, links)
    for (const { placeholder, href, attribute } of trackedLinks) {
      const destination = fill(href, plainValues)
      const tracked = track(destination)
      htmlValues.set(placeholder, tracked === undefined ? fill(attribute, htmlValues) : `href="${tracked}"`)
      plainValues.set(placeholder, tracked ?? destination)
    }
    return { html: fill(inHtml, htmlValues), text: fill(inText, plainValues) }
  }
}

/** Returns whether a link may be an http(s) URL, whatever its placeholders contain. */
const isWeb = (href: string): boolean =>
  (VALUE_PLACEHOLDER.test(href) && /^https?:/i.test(href)) ||
  /^https?:$/.test(
    URL.parse(href.replaceAll(URL_PLACEHOLDERS, "https://x.test/").replaceAll(ALL_PLACEHOLDERS, "x"))?.protocol ?? "",
  )

/** Text split at its placeholders, which have odd indexes. */
type Segments = ReadonlyArray<string>

const splitAtPlaceholders = (text: string): Segments => text.split(ANY_PLACEHOLDER)

const fill = (text: Segments, values: ReadonlyMap<string, string>): string => {
  let filled = ""
  for (const [i, piece] of text.entries()) filled += i % 2 === 0 ? piece : values.get(piece)
  return filled
}

// Compiled once: the selectors cost as much as the conversion.
const mailText = compile({
  wordwrap: false,
  selectors: [
    { selector: "img", format: "skip" },
    // Capitals would change a token.
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
})
