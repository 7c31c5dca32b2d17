import { type DefaultTreeAdapterTypes, parse } from "parse5"
import type { RecipientRef, TrackingLinks } from "../hits/TrackingLinks.ts"

/**
 * What follows a piece of an HTML body: the pixel, or a link, with the attribute that is written where it is not tracked and the address that it
 * leads to. For a link that is excluded from tracking, the attribute that says so is left out.
 */
type Mark = { readonly attribute: string; readonly href: string; readonly isExcluded: boolean } | "pixel"

/** The attribute of a link that stays as it is; sent mail does not have it. */
const EXCLUDING_ATTRIBUTE = "data-no-track"

/** An HTML body, cut where its links stand and where its pixel belongs: each piece with what follows it, and the rest. */
export interface CutBody {
  readonly pieces: ReadonlyArray<readonly [before: string, mark: Mark]>
  readonly rest: string
}

/** Finds the links of an HTML body, and the place for its pixel; those in comments, which only Outlook reads, do not count. */
export const cutAtLinks = (html: string): CutBody => {
  // By where they begin, because the tree repeats an element that was closed out of turn.
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

/** Creates the function that leads a link by way of us; undefined for what stays as it is: the recipient's own unsubscription, and what leads to no page. */
export const trackingOf = (
  to: RecipientRef,
  links: TrackingLinks["Service"],
): ((href: string) => string | undefined) => {
  const unsubscription = links.unsubscribe(to)
  return (href) => (href === unsubscription ? undefined : links.click(to, href))
}

/**
 * Replaces every http and https link of an HTML body by its tracked one, and puts in the pixel that shows an opening; the rest stays
 * as it was, character for character, and so do mailto:, tel:, anchors, relative addresses, the recipient's own unsubscription, and what
 * is longer than a tracked link takes. A link with `data-no-track` stays, too, without that attribute.
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
