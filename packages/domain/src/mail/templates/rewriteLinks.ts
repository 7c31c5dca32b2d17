import { type DefaultTreeAdapterTypes, parse } from "parse5"
import type { RecipientRef, TrackingLinks } from "../../hits/TrackingLinks.ts"

/**
 * Marks after a piece of an HTML body: the pixel, or a link with its untracked attribute and its
 * URL. For a link excluded from tracking, the excluding attribute is removed.
 */
type Mark = { readonly attribute: string; readonly href: string; readonly isExcluded: boolean } | "pixel"

/** Attribute of an untracked link; removed from sent mail. */
const EXCLUDING_ATTRIBUTE = "data-no-track"

/** An HTML body split at its links and its pixel: each piece with the following mark, and the rest. */
export interface CutBody {
  readonly pieces: ReadonlyArray<readonly [before: string, mark: Mark]>
  readonly rest: string
}

/** Finds the links of an HTML body, and the place for its pixel. Ignores links in comments, which only Outlook reads. */
export const cutAtLinks = (html: string): CutBody => {
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
    const attribute = tagName === "a" || tagName === "area" ? place?.attrs?.["href"] : undefined
    const href = attribute && attrs.find(({ name }) => name === "href")?.value
    if (attribute === undefined || href === undefined) continue
    const excluding = place?.attrs?.[EXCLUDING_ATTRIBUTE]
    const { startOffset: start, endOffset: end } = excluding ?? attribute
    const isExcluded = excluding !== undefined
    edits.set(start, { start, end, mark: { attribute: isExcluded ? "" : html.slice(start, end), href, isExcluded } })
  }

  const inOrder = [...edits.values(), { start: bodyEnd, end: bodyEnd, mark: "pixel" as const }]
  let copied = 0
  const pieces = inOrder
    .sort((a, b) => a.start - b.start)
    .map(({ start, end, mark }) => {
      const before = html.slice(copied, start)
      copied = end
      return [before, mark] as const
    })
  return { pieces, rest: html.slice(copied) }
}

export const pixelTo = (to: RecipientRef, links: TrackingLinks["Service"]): string =>
  `<img src="${links.open(to)}" width="1" height="1" alt="" style="display:block;border:0">`

/** Creates the function that returns a tracked URL; undefined for URLs that stay: the recipient's own unsubscribe URL, and non-pages. */
export const trackingOf = (
  to: RecipientRef,
  links: TrackingLinks["Service"],
): ((href: string) => string | undefined) => {
  const unsubscription = links.unsubscribe(to)
  return (href) => (href === unsubscription ? undefined : links.click(to, href))
}

/**
 * Replaces every http and https link of an HTML body by its tracked URL, and inserts the open-tracking pixel. The rest is
 * unchanged, including mailto:, tel:, anchors, relative URLs, the recipient's own unsubscribe URL, and
 * URLs that are too long. Links with `data-no-track` stay too, without that attribute.
 */
export const rewriteLinks = (html: string, to: RecipientRef, links: TrackingLinks["Service"]): string => {
  const track = trackingOf(to, links)
  const { pieces, rest } = cutAtLinks(html)
  const written = pieces.map(([before, mark]) => {
    if (mark === "pixel") return before + pixelTo(to, links)
    const tracked = mark.isExcluded ? undefined : track(mark.href.trim())
    return before + (tracked === undefined ? mark.attribute : `href="${tracked}"`)
  })
  return written.join("") + rest
}
