import { compile } from "html-to-text"
import { LinkifyIt } from "linkify-it"
import { type DefaultTreeAdapterTypes, parse, parseFragment } from "parse5"
import type { RecipientRef, TrackingLinks } from "../../hits/TrackingLinks.ts"
import type { TemplateVariables } from "../../recipients/RecipientFields.ts"
import type { MessageTemplate } from "../Message.ts"
import type { Mail } from "../Transport.ts"
import { createSchemeCheck } from "./createSchemeCheck.ts"
import { insertPreheader, PREHEADER } from "./insertPreheader.ts"
import { compileTemplate, hideCode } from "./Template.ts"

/**
 * Marks after a piece of an HTML body: the pixel, or a link with its attribute and its URL. The attribute is empty if it
 * excludes the link from tracking.
 */
type Mark = { readonly attribute: string; readonly href: string; readonly isExcluded: boolean } | "pixel"

/** Attribute of an untracked link; removed from sent mail. */
const EXCLUDING_ATTRIBUTE = "data-no-track"

/** The attribute of a URL, also next to a tag: `<a {% if token %}href="…"`. */
const HREF = /^(?:\uE000\d+\uE001)*href$/

/** An HTML body split at its links and its pixel: each piece with the following mark, and the rest. */
interface CutBody {
  readonly pieces: ReadonlyArray<readonly [before: string, mark: Mark]>
  readonly rest: string
}

/** Finds the links of a template of an HTML body, and the place for its pixel. Ignores links in comments, which only Outlook reads. */
const cutAtLinks = (template: string): CutBody => {
  // Tags before the document are left out, because text there would start the body.
  const [tags] = /^(?:\s|\{%.*?%\})*/s.exec(template)!
  const { hidden: html, restore, restoreDecoded } = hideCode(template.slice(tags.length))
  // By start position, because the tree repeats elements that were closed out of order.
  const edits = new Map<number, { readonly start: number; readonly end: number; readonly mark: Mark }>()
  let bodyEnd = html.length

  const waiting: Array<DefaultTreeAdapterTypes.Node> = [
    parse(html, { sourceCodeLocationInfo: true, scriptingEnabled: false }),
  ]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ("childNodes" in node) waiting.push(...node.childNodes)
    if (!("tagName" in node)) continue
    const { tagName, attrs, sourceCodeLocation: place } = node
    if (tagName === "body" && place?.endTag) bodyEnd = place.endTag.startOffset
    const excluding = place?.attrs?.[EXCLUDING_ATTRIBUTE]
    const isExcluded = excluding !== undefined
    for (const { name, value } of tagName === "a" || tagName === "area" ? attrs : []) {
      const attribute = HREF.test(name) ? place?.attrs?.[name] : undefined
      if (attribute === undefined) continue
      const { startOffset, endOffset: end } = excluding ?? attribute
      const start = isExcluded ? startOffset : startOffset + name.length - "href".length
      const written = isExcluded ? "" : restore(html.slice(start, end))
      // A tag at the end of a URL without quotes may belong to one before it.
      if (written.endsWith("%}")) continue
      edits.set(start, { start, end, mark: { attribute: written, href: restoreDecoded(value), isExcluded } })
    }
  }

  const inOrder = [...edits.values(), { start: bodyEnd, end: bodyEnd, mark: "pixel" as const }]
  let copied = 0
  const pieces = inOrder
    .sort((a, b) => a.start - b.start)
    .map(({ start, end, mark }, i) => {
      const before = (i === 0 ? tags : "") + restore(html.slice(copied, start))
      copied = end
      return [before, mark] as const
    })
  return { pieces, rest: restore(html.slice(copied)) }
}

/** Encloses each link that may be tracked, and nothing in place of the pixel. Neither templates nor values contain it. */
const EDGE = "\0"

/**
 * Parses a campaign's HTML and text once; without a text, converts the HTML. Returns a function that composes a recipient's body.
 *
 * Every http and https link is replaced by its tracked URL, and the open-tracking pixel is inserted. The rest is unchanged, including mailto:, tel:, anchors,
 * relative URLs, the recipient's own unsubscribe URL, and URLs that are too long. Links with `data-no-track` stay too, without that attribute.
 */
export const composeBody = (
  { preheader, text, ...template }: Pick<MessageTemplate, "preheader" | "html" | "text">,
  links: TrackingLinks["Service"],
): ((to: RecipientRef, variables: TemplateVariables) => Pick<Mail, "html" | "text">) => {
  const html = preheader === null ? template.html : insertPreheader(template.html, preheader)
  const cut = cutAtLinks(html)
  const render = compileTemplate(
    writeCut(cut, (attribute) => EDGE + attribute + EDGE),
    "html",
  )
  const composeText = text === null ? convertBody(cut) : trackText(text, cut)
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
      text: composeText(variables, track, () => htmlWith("")),
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

/** Returns a tracked URL; undefined for URLs that stay: the recipient's own unsubscribe URL, and non-pages. */
type Track = (href: string) => string | undefined

const trackingOf = (to: RecipientRef, links: TrackingLinks["Service"]): Track => {
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

/** Composes a recipient's text; `renderHtml` returns the HTML without the pixel. */
type TextComposer = (variables: TemplateVariables, track: Track, renderHtml: () => string) => string

/** Converts the template to one of the text, in which tracked links are enclosed; otherwise the rendered HTML, which costs almost as much as sending. */
const convertBody = (cut: CutBody): TextComposer => {
  const hrefs: Array<string> = []
  const html = writeCut(cut, (attribute, href) =>
    NOT_SHOWN.test(href) ? attribute : `href="${EDGE}${hrefs.push(href) - 1}${EDGE}"`,
  )
  const { hidden, restoreDecoded, codes } = hideCode(html)
  if (!codes.every((code) => PLAIN_OUTPUT.test(code))) return (_variables, _track, renderHtml) => mailText(renderHtml())
  const text = restoreDecoded(mailText(hidden)).replaceAll(/\0(\d+)\0/g, (_, index) => EDGE + hrefs[index] + EDGE)
  const render = compileTemplate(text, "text")
  return (variables, track) => replaceMarked(render(variables), (href) => track(href) ?? href)
}

// Compiled once: the selectors cost as much as the conversion.
const mailText = compile({
  wordwrap: false,
  selectors: [
    { selector: "img", format: "skip" },
    { selector: `[${PREHEADER}]`, format: "skip" },
    // Capitals would change a token.
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
})

// Only links with a scheme: a name with a dot may be anything.
const linkify = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })

/** Tracks the links of a campaign's own text like those of the HTML, unless the HTML excludes the same URL. */
const trackText = (text: string, { pieces }: CutBody): TextComposer => {
  const render = compileTemplate(text, "text")
  const excludedLinks = pieces.flatMap(([, mark]) => (mark !== "pixel" && mark.isExcluded ? [mark.href] : []))
  return (variables, track) => {
    const excluded = new Set(excludedLinks.map((link) => renderLink(link, variables)))
    return replaceLinks(render(variables), (href) => (excluded.has(href) ? undefined : track(href)))
  }
}

/** Renders the URL of a link; undefined if a template part isn't a complete URL, or the recipient lacks a field. */
const renderLink = (href: string, variables: TemplateVariables): string | undefined => {
  try {
    return compileTemplate(href, "text")(variables).trim()
  } catch {
    return undefined
  }
}

/** Replaces each link by the result of `replace`; undefined keeps it. */
const replaceLinks = (text: string, replace: (href: string) => string | undefined): string => {
  let replaced = ""
  let copied = 0
  for (const { index, lastIndex, url } of linkify.match(text) ?? []) {
    replaced += text.slice(copied, index) + (replace(url) ?? text.slice(index, lastIndex))
    copied = lastIndex
  }
  return replaced + text.slice(copied)
}
