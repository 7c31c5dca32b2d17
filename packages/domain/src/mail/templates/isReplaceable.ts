import { type DefaultTreeAdapterTypes, parse } from "parse5"

/** Possible start of a tag or a character reference. */
const BEGINNING = "(?:<[/!?]?|&#?\\w*)"

/** Elements with attributes that affect the text: a list starts with the number in `start`. */
const LISTS: ReadonlySet<string> = new Set(["ol", "ul", "li"])

/**
 * Returns whether all characters of a class are in places where escaped text can replace them without changing a tag: text, comments and
 * quoted attributes. `characters` is the inside of a character class.
 */
export const isReplaceable = (html: string, characters: string): boolean => {
  if (new RegExp(`${BEGINNING}[${characters}]`).test(html)) return false
  const character = new RegExp(`[${characters}]`, "g")
  const countIn = (text: string): number => text.match(character)?.length ?? 0
  // By start position, because the tree repeats elements that were closed out of order.
  const attributes = new Map<number, string>()
  let inert = 0
  const waiting: Array<DefaultTreeAdapterTypes.Node> = [
    parse(html, { sourceCodeLocationInfo: true, scriptingEnabled: false }),
  ]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ("childNodes" in node) waiting.push(...node.childNodes)
    if ("content" in node) waiting.push(node.content)
    if (node.nodeName === "#text") inert += countIn((node as DefaultTreeAdapterTypes.TextNode).value)
    if (node.nodeName === "#comment") inert += countIn((node as DefaultTreeAdapterTypes.CommentNode).data)
    if (!("tagName" in node) || LISTS.has(node.tagName)) continue
    for (const { startOffset, endOffset } of Object.values(node.sourceCodeLocation?.attrs ?? {})) {
      attributes.set(startOffset, html.slice(startOffset, endOffset))
    }
  }
  for (const attribute of attributes.values()) {
    const [, value] = /^[^=]+=\s*(["'].*)$/s.exec(attribute) ?? []
    if (value !== undefined) inert += countIn(value)
  }
  // A character elsewhere, such as in a tag name, is missing from the sum.
  return inert === countIn(html)
}
