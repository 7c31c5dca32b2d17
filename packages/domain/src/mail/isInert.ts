import { type DefaultTreeAdapterTypes, parse } from "parse5"

/** What may begin a tag or a character reference. */
const BEGINNING = "(?:<[/!?]?|&#?\\w*)"

/** Elements whose attributes show in the text: a list begins with the number that `start` says. */
const LISTS: ReadonlySet<string> = new Set(["ol", "ul", "li"])

/**
 * Reports whether all characters of a class are in places where escaped text can replace them without changing a tag: in texts, comments and
 * quoted attributes. `characters` is the inside of a character class.
 */
export const isInert = (html: string, characters: string): boolean => {
  if (new RegExp(`${BEGINNING}[${characters}]`).test(html)) return false
  const character = new RegExp(`[${characters}]`, "g")
  const countIn = (text: string): number => text.match(character)?.length ?? 0
  // By where they begin, because the tree repeats an element that was closed out of turn.
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
  // A character elsewhere, such as in the name of a tag, is missing from the sum.
  return inert === countIn(html)
}
