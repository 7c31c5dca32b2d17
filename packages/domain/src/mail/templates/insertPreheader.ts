import { type DefaultTreeAdapterTypes, parse } from "parse5"
import { escapeHtml, hideCode } from "./Template.ts"

/** Attribute of the preheader, which the text part doesn't contain. */
export const PREHEADER = "data-preheader"

const HIDDEN = "display:none;max-height:0;overflow:hidden;mso-hide:all"

/** Inserts a preheader's template into an HTML template, hidden at the start of the body. */
export const insertPreheader = (html: string, preheader: string): string => {
  const { hidden, restore } = hideCode(preheader)
  return insertAtStart(html, `<div ${PREHEADER} style="${HIDDEN}">${restore(escapeHtml(hidden))}</div>`)
}

/** Inserts HTML at the start of the body. */
export const insertAtStart = (html: string, piece: string): string => {
  // Tags of the template before the document don't start its body.
  const [tags] = /^(?:\s|\{%.*?%\})*/s.exec(html)!
  const { hidden, restore } = hideCode(html.slice(tags.length))
  const document = parse(hidden, { sourceCodeLocationInfo: true, scriptingEnabled: false })
  const [, body] = document.childNodes.filter(isElement)[0]!.childNodes.filter(isElement)
  const { childNodes: [first] = [], sourceCodeLocation: place } = body!
  const start = place?.startTag?.endOffset ?? first?.sourceCodeLocation?.startOffset ?? hidden.length
  return tags + restore(hidden.slice(0, start)) + piece + restore(hidden.slice(start))
}

const isElement = (node: DefaultTreeAdapterTypes.Node): node is DefaultTreeAdapterTypes.Element => "tagName" in node
