import { type DefaultTreeAdapterTypes, parse } from "parse5"
import type { Addressee, TrackingLinks } from "./TrackingLinks.ts"

/**
 * Replaces every http and https link of an HTML body by its tracked one, and puts in the pixel that shows an opening.
 *
 * The rest stays as it was, character for character, and so do mailto:, tel:, anchors, relative addresses, the recipient's own
 * unsubscription, and what is longer than a tracked link takes. Links in comments stay too, such as those that only Outlook reads.
 */
export const rewriteLinks = (html: string, to: Addressee, links: TrackingLinks["Service"]): string => {
  const pixel = `<img src="${links.open(to)}" width="1" height="1" alt="" style="display:block;border:0">`
  const unsubscription = links.unsubscribe(to)
  // By where they begin: of an element that was closed out of turn, the tree holds several.
  const edits = new Map<number, Edit>()
  let end = html.length

  const waiting: Array<DefaultTreeAdapterTypes.Node> = [
    parse(html, { sourceCodeLocationInfo: true, scriptingEnabled: false }),
  ]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ("childNodes" in node) waiting.push(...node.childNodes)
    if (!("tagName" in node)) continue
    const { tagName, attrs, sourceCodeLocation: place } = node
    if (tagName === "body" && place?.endTag) end = place.endTag.startOffset
    const attribute = tagName === "a" || tagName === "area" ? place?.attrs?.["href"] : undefined
    const href = attribute && attrs.find(({ name }) => name === "href")?.value.trim()
    const tracked = href === undefined || href === unsubscription ? undefined : links.click(to, href)
    if (attribute === undefined || tracked === undefined) continue
    edits.set(attribute.startOffset, {
      start: attribute.startOffset,
      end: attribute.endOffset,
      text: `href="${tracked}"`,
    })
  }

  let rewritten = ""
  let copied = 0
  const inOrder = [...edits.values(), { start: end, end, text: pixel }].sort((a, b) => a.start - b.start)
  for (const edit of inOrder) {
    rewritten += html.slice(copied, edit.start) + edit.text
    copied = edit.end
  }
  return rewritten + html.slice(copied)
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}
