import { compile } from "html-to-text"
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5"
import type { RecipientRef, TrackingLinks } from "../../hits/TrackingLinks.ts"
import type { TemplateVariables } from "../../TemplateVariables.ts"
import type { MessageTemplate } from "../Message.ts"
import { createSchemeCheck } from "./createSchemeCheck.ts"
import { type CutBody, cutAtLinks } from "./cutAtLinks.ts"
import { compileTemplate, hideCode } from "./Template.ts"

export interface MailBody {
  readonly html: string
  readonly text: string
}

/** Encloses each link that may be tracked, and nothing in place of the pixel. Neither templates nor values contain it. */
const EDGE = "\0"

/**
 * Parses a campaign's HTML once: finds its links and converts it to text. Returns a function that composes a recipient's body.
 *
 * Every http and https link is replaced by its tracked URL, and the open-tracking pixel is inserted. The rest is unchanged, including mailto:, tel:, anchors,
 * relative URLs, the recipient's own unsubscribe URL, and URLs that are too long. Links with `data-no-track` stay too, without that attribute.
 */
export const composeBody = (
  { html }: Pick<MessageTemplate, "html">,
  links: TrackingLinks["Service"],
): ((to: RecipientRef, variables: TemplateVariables) => MailBody) => {
  const cut = cutAtLinks(html)
  const render = compileTemplate(
    writeCut(cut, (attribute) => EDGE + attribute + EDGE),
    "html",
  )
  const renderText = compileText(cut)
  const checkSchemes = createSchemeCheck(html)
  return (to, variables) => {
    const rendered = render(variables)
    checkSchemes?.(rendered.replaceAll(EDGE, ""))
    const track = trackingOf(to, links)
    const htmlWith = (pixel: string): string =>
      replaceMarked(rendered, (attribute) => {
        if (attribute === "") return pixel
        const tracked = track(addressIn(attribute))
        return tracked === undefined ? attribute : `href="${tracked}"`
      })
    return {
      html: htmlWith(`<img src="${links.open(to)}" width="1" height="1" alt="" style="display:block;border:0">`),
      // The text excludes the pixel, which could add a line.
      text: renderText ? replaceMarked(renderText(variables), (href) => track(href) ?? href) : mailText(htmlWith("")),
    }
  }
}

/** Joins the pieces of a body, with a replacement for the attribute of each link; the pixel has an empty one. */
const writeCut = ({ pieces, rest }: CutBody, replace: (attribute: string, href: string) => string): string =>
  pieces
    .map(([before, mark]) => {
      if (mark === "pixel") return before + replace("", "")
      return before + (mark.isExcluded ? "" : replace(mark.attribute, mark.href))
    })
    .join("") + rest

const replaceMarked = (text: string, replace: (marked: string) => string): string =>
  text
    .split(EDGE)
    .map((piece, i) => (i % 2 === 0 ? piece : replace(piece)))
    .join("")

/** Creates the function that returns a tracked URL; undefined for URLs that stay: the recipient's own unsubscribe URL, and non-pages. */
export const trackingOf = (
  to: RecipientRef,
  links: TrackingLinks["Service"],
): ((href: string) => string | undefined) => {
  const unsubscription = links.unsubscribe(to)
  const known = new Map<string, string | undefined>([[unsubscription, undefined]])
  return (written) => {
    const href = written.trim()
    if (!known.has(href)) known.set(href, links.click(to, href))
    return known.get(href)
  }
}

/** Returns the URL in a link's rendered attribute. */
const addressIn = (attribute: string): string => {
  const plain = /^href="([^"&]*)"$/.exec(attribute)?.[1]
  if (plain !== undefined) return plain
  const [link] = parseFragment(`<a ${attribute} >`).childNodes as [DefaultTreeAdapterTypes.Element]
  return link.attrs[0]!.value
}

/** Outputs that mean the same in the text: they neither trim it nor insert tags. */
const PLAIN_OUTPUT = /^\{\{(?!-)(?!.*\|\s*raw\b).*(?<!-)\}\}$/s

/** A link that the text shows without its scheme or not at all. */
const NOT_SHOWN = /^\s*(?:$|#|mailto:)/i

/**
 * Converts a template to one of the text, in which tracked links are enclosed. Undefined if only the rendered HTML can be converted, which costs
 * almost as much as sending.
 */
const compileText = (cut: CutBody): ((variables: TemplateVariables) => string) | undefined => {
  const hrefs: Array<string> = []
  const html = writeCut(cut, (attribute, href) =>
    NOT_SHOWN.test(href) ? attribute : `href="${EDGE}${hrefs.push(href) - 1}${EDGE}"`,
  )
  const { hidden, restoreDecoded, codes } = hideCode(html)
  if (!codes.every((code) => PLAIN_OUTPUT.test(code))) return undefined
  const text = restoreDecoded(mailText(hidden)).replaceAll(/\0(\d+)\0/g, (_, index) => EDGE + hrefs[index] + EDGE)
  return compileTemplate(text, "text")
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
