import { compile } from "html-to-text"
import type { RecipientRef, TrackingLinks } from "../hits/TrackingLinks.ts"
import type { MessageTemplate } from "./Message.ts"
import { cutAtLinks, pixelTo, rewriteLinks, trackingOf } from "./rewriteLinks.ts"
import { compileTemplate, escapeHtml, type TemplateVariables } from "./Template.ts"

/** The body of a message, as HTML and as text. */
export interface MailBody {
  readonly html: string
  readonly text: string
}

type ComposeBody = (to: RecipientRef, variables: TemplateVariables) => MailBody

/** Characters for private use, which no parser takes for more than a letter: each stands for a value that differs between recipients. */
const PLACEHOLDER = { token: "\uE000", unsubscribeUrl: "\uE001", shortLink: "\uE002", pixel: "\uE003" } as const
/** The code points of the placeholders for tracked links. */
const FIRST_LINK = 0xe010
const LAST_LINK = 0xf8ff
const ANY_PLACEHOLDER = /([\uE000-\uF8FF])/
const ALL_PLACEHOLDERS = new RegExp(ANY_PLACEHOLDER, "g")
const URL_PLACEHOLDERS = new RegExp(`[${PLACEHOLDER.unsubscribeUrl}${PLACEHOLDER.shortLink}]`, "g")

/** A character of that range, written by its number. */
const NUMERIC_PLACEHOLDER = /&#(x0*[ef][\da-f]{3}(?![\da-f])|0*(5[7-9]|6[0-3])\d{3}(?!\d))/i

/** What a template may do beyond naming variables. */
const MORE_THAN_NAMES = /\{%|\{\{(?!-?\s*\w+\s*-?\}\})/

/**
 * Reads a campaign's HTML once; the result composes the body to one recipient, its links tracked.
 *
 * Where the HTML only names variables it is rendered, searched for links and turned into text once for all recipients, with
 * placeholders for the values of each. To do so for each recipient costs almost as much as sending.
 */
export const composeBody = (template: MessageTemplate, links: TrackingLinks["Service"]): ComposeBody => {
  const { html, campaignName, programName, senderName, postalAddress, shortLink } = template
  const render = compileTemplate(html, "html")
  const composeEach: ComposeBody = (to, variables) => {
    const rewritten = rewriteLinks(render(variables), to, links)
    return { html: rewritten, text: mailText(rewritten) }
  }
  if (MORE_THAN_NAMES.test(html) || NUMERIC_PLACEHOLDER.test(html)) return composeEach
  if (ANY_PLACEHOLDER.test(html + campaignName + programName + senderName + postalAddress)) return composeEach
  const prepared = render({
    token: PLACEHOLDER.token,
    campaign_name: campaignName,
    program_name: programName,
    ...(senderName !== null && { sender_name: senderName }),
    ...(postalAddress !== null && { postal_address: postalAddress }),
    unsubscribe_url: PLACEHOLDER.unsubscribeUrl,
    ...(shortLink !== null && { short_link: PLACEHOLDER.shortLink }),
  })
  return createFiller(prepared, links) ?? composeEach
}

/** Creates the function that replaces the placeholders by a recipient's values; undefined when there are more links than placeholders. */
const createFiller = (prepared: string, links: TrackingLinks["Service"]): ComposeBody | undefined => {
  const trackedLinks: Array<{ readonly placeholder: string; readonly href: Segments; readonly attribute: Segments }> =
    []
  let html = ""
  let textual = ""
  const { pieces, rest } = cutAtLinks(prepared)
  if (FIRST_LINK + pieces.length > LAST_LINK) return undefined
  // Spaces around a link are dropped where it is tracked, and where it is not are part of the text.
  if (pieces.some(([, link]) => link !== "pixel" && link.href !== link.href.trim())) return undefined
  for (const [before, link] of pieces) {
    html += before
    textual += before
    if (link === "pixel") html += PLACEHOLDER.pixel
    else if (isWeb(link.href)) {
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

  return (to, { token, unsubscribe_url, short_link = "" }) => {
    const plainValues = new Map<string, string>([
      [PLACEHOLDER.token, token],
      [PLACEHOLDER.unsubscribeUrl, unsubscribe_url],
      [PLACEHOLDER.shortLink, short_link],
    ])
    const htmlValues = new Map<string, string>([
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

/** Reports whether a link may lead to the web, whatever its placeholders stand for. */
const isWeb = (href: string): boolean =>
  /^https?:$/.test(
    URL.parse(href.replaceAll(URL_PLACEHOLDERS, "https://x.test/").replaceAll(ALL_PLACEHOLDERS, "x"))?.protocol ?? "",
  )

/** A text split at its placeholders, which stand at the odd indexes. */
type Segments = ReadonlyArray<string>

const splitAtPlaceholders = (text: string): Segments => text.split(ANY_PLACEHOLDER)

const fill = (text: Segments, values: ReadonlyMap<string, string>): string => {
  let filled = ""
  for (const [i, piece] of text.entries()) filled += i % 2 === 0 ? piece : values.get(piece)
  return filled
}

const format = { options: { uppercase: false } }

// Compiled once: the selectors cost as much as the conversion.
const toText = compile({
  wordwrap: false,
  selectors: [
    { selector: "img", format: "skip" },
    // In capital letters a token would be another one.
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, ...format })),
  ],
})

/** Renders an HTML body as text, its links in brackets. */
const mailText = (html: string): string => toText(html)
