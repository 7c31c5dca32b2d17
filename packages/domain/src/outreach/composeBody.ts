import type { MessageTemplate } from "./Message.ts"
import { mailText } from "./mailText.ts"
import { cutAtLinks, pixelTo, rewriteLinks, trackingOf } from "./rewriteLinks.ts"
import { compileTemplate, escapeHtml, type TemplateVariables } from "./Template.ts"
import type { Addressee, TrackingLinks } from "./TrackingLinks.ts"

/** The body of a message, as HTML and as text. */
export interface MailBody {
  readonly html: string
  readonly text: string
}

type ComposeBody = (to: Addressee, variables: TemplateVariables) => MailBody

// What stands for what differs between recipients: characters for private use, which no parser takes for more than a letter.
const TOKEN = "\uE000"
const UNSUBSCRIBE_URL = "\uE001"
const SHORT_LINK = "\uE002"
const PIXEL = "\uE003"
const FIRST_LINK = 0xe010
const LAST_LINK = 0xf8ff
const MARK = /([\uE000-\uF8FF])/
const MARKS = new RegExp(MARK, "g")
const ADDRESSES = new RegExp(`[${UNSUBSCRIBE_URL}${SHORT_LINK}]`, "g")

/** A mark that is written by its number. */
const MARK_BY_NUMBER = /&#(x0*[ef][\da-f]{3}(?![\da-f])|0*(5[7-9]|6[0-3])\d{3}(?!\d))/i

/** What a template may do beyond naming variables. */
const MORE_THAN_NAMES = /\{%|\{\{(?!-?\s*\w+\s*-?\}\})/

/**
 * Reads a campaign's HTML once; the result composes the body to one recipient, its links tracked.
 *
 * Where the HTML only names variables it is rendered, searched for links and turned into text once for all recipients, with marks in
 * the place of what is each one's own. To do so for each costs almost as much as sending.
 */
export const composeBody = (template: MessageTemplate, links: TrackingLinks["Service"]): ComposeBody => {
  const { html, campaignName, programName, shortLink } = template
  const render = compileTemplate(html, "html")
  const composeEach: ComposeBody = (to, variables) => {
    const rewritten = rewriteLinks(render(variables), to, links)
    return { html: rewritten, text: mailText(rewritten) }
  }
  if (MORE_THAN_NAMES.test(html) || MARK_BY_NUMBER.test(html)) return composeEach
  if (MARK.test(html + campaignName + programName)) return composeEach
  const marked = render({
    token: TOKEN,
    campaign_name: campaignName,
    program_name: programName,
    unsubscribe_url: UNSUBSCRIBE_URL,
    ...(shortLink !== null && { short_link: SHORT_LINK }),
  })
  return fillIn(marked, links) ?? composeEach
}

/** Makes the function that puts what is a recipient's own in the place of the marks; undefined where marks could not stand for every link. */
const fillIn = (marked: string, links: TrackingLinks["Service"]): ComposeBody | undefined => {
  const places: Array<{ readonly mark: string; readonly href: Cut; readonly attribute: Cut }> = []
  let html = ""
  let textual = ""
  const { pieces, rest } = cutAtLinks(marked)
  if (FIRST_LINK + pieces.length > LAST_LINK) return undefined
  // Spaces around a link are dropped where it is tracked, and where it is not are part of the text.
  if (pieces.some(([, link]) => link !== "pixel" && link.href !== link.href.trim())) return undefined
  for (const [before, link] of pieces) {
    html += before
    textual += before
    if (link === "pixel") html += PIXEL
    else if (isWeb(link.href)) {
      const mark = String.fromCharCode(FIRST_LINK + places.length)
      places.push({ mark, href: cut(link.href), attribute: cut(link.attribute) })
      html += mark
      textual += `href="${mark}"`
    } else {
      html += link.attribute
      textual += link.attribute
    }
  }
  const inHtml = cut(html + rest)
  const inText = cut(mailText(textual + rest))

  return (to, { token, unsubscribe_url, short_link = "" }) => {
    const said = new Map([
      [TOKEN, token],
      [UNSUBSCRIBE_URL, unsubscribe_url],
      [SHORT_LINK, short_link],
    ])
    const written = new Map([
      [TOKEN, escapeHtml(token)],
      [UNSUBSCRIBE_URL, escapeHtml(unsubscribe_url)],
      [SHORT_LINK, escapeHtml(short_link)],
      [PIXEL, pixelTo(to, links)],
    ])
    const track = trackingOf(to, links)
    for (const { mark, href, attribute } of places) {
      const destination = fill(href, said)
      const tracked = track(destination)
      written.set(mark, tracked === undefined ? fill(attribute, written) : `href="${tracked}"`)
      said.set(mark, tracked ?? destination)
    }
    return { html: fill(inHtml, written), text: fill(inText, said) }
  }
}

/** Says whether a link may lead to the web, whatever its marks stand for. */
const isWeb = (href: string): boolean =>
  /^https?:$/.test(URL.parse(href.replaceAll(ADDRESSES, "https://x.test/").replaceAll(MARKS, "x"))?.protocol ?? "")

/** A text that was cut at its marks, each of which stands at an odd place. */
type Cut = ReadonlyArray<string>

const cut = (text: string): Cut => text.split(MARK)

const fill = (text: Cut, values: ReadonlyMap<string, string>): string => {
  let filled = ""
  for (const [i, piece] of text.entries()) filled += i % 2 === 0 ? piece : values.get(piece)
  return filled
}
