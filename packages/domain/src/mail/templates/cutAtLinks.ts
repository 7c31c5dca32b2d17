import { type DefaultTreeAdapterTypes, parse } from "parse5"
import { hideCode } from "./Template.ts"

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
export interface CutBody {
  readonly pieces: ReadonlyArray<readonly [before: string, mark: Mark]>
  readonly rest: string
}

/** Finds the links of a template of an HTML body, and the place for its pixel. Ignores links in comments, which only Outlook reads. */
export const cutAtLinks = (template: string): CutBody => {
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
