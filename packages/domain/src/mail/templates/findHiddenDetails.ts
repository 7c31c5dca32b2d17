import { type DefaultTreeAdapterTypes, parse } from "parse5"
import type { Program } from "../../programs/Program.ts"
import { SAMPLE } from "../../recipients/RecipientFields.ts"
import type { MessageTemplate } from "../Message.ts"
import { compileTemplate, sampleVariables } from "./Template.ts"

/** Required content of each e-mail: sender, postal address, and how to unsubscribe (15 U.S.C. 7704 (a) (3) and (5)). */
interface SenderDetails {
  readonly senderName: string
  readonly postalAddress: string
  readonly unsubscribeUrl: string
}

export type SenderDetail = keyof SenderDetails

/** Lists the details that each part of a campaign's e-mail doesn't show, with the sender details of its program; null for none. */
export const findMissingDetails = (
  campaign: Pick<MessageTemplate, "html" | "text" | "fields" | "shortLink">,
  program: Pick<Program, "senderName" | "postalAddress">,
): Readonly<Record<"html" | "text", ReadonlyArray<SenderDetail>>> => {
  const { html, text } = campaign
  const [senderName, postalAddress] = [program.senderName ?? "", program.postalAddress ?? ""]
  const variables = { ...sampleVariables(campaign), sender_name: senderName, postal_address: postalAddress }
  const details = { senderName, postalAddress, unsubscribeUrl: SAMPLE.unsubscribe_url }
  return {
    html: findHiddenDetails(compileTemplate(html, "html")(variables), details),
    text: text === null ? [] : findMissingText(compileTemplate(text, "text")(variables), details),
  }
}

/**
 * Lists the details that a rendered HTML body doesn't show as text or as a link.
 *
 * Ignores case, spaces, punctuation and line breaks. Text in comments, attributes and elements hidden by their own
 * attributes isn't shown.
 */
export const findHiddenDetails = (html: string, details: SenderDetails): ReadonlyArray<SenderDetail> => {
  const { text, links } = readVisible(html)
  const missing = findMissingText(text, details)
  return links.includes(details.unsubscribeUrl) ? missing.filter((detail) => detail !== "unsubscribeUrl") : missing
}

const findMissingText = (text: string, details: SenderDetails): ReadonlyArray<SenderDetail> => {
  const words = wordsOf(text)
  const missing: Array<SenderDetail> = (["senderName", "postalAddress"] as const).filter(
    (detail) => !words.includes(wordsOf(details[detail])),
  )
  return text.includes(details.unsubscribeUrl) ? missing : [...missing, "unsubscribeUrl"]
}

/** Words of a text in lower case, each between two spaces. */
const wordsOf = (text: string): string =>
  ` ${(
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  ).join(" ")} `

/** Elements that don't separate words. */
const INLINE = new Set("a abbr b bdi bdo em font i mark small span strong sub sup u wbr".split(" "))
const NEVER_SHOWN = new Set(["head", "title", "style", "script"])
const HIDING_STYLE = /(?:^|;)(?:display:none|visibility:hidden|opacity:0(?!\.0*[1-9])|max-height:0(?!\.)|mso-hide:all)/i

const readVisible = (html: string) => {
  let text = ""
  const links: Array<string> = []
  const waiting: Array<DefaultTreeAdapterTypes.Node | " "> = [parse(html, { scriptingEnabled: false })]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node === " ") text += node
    else if ("value" in node) text += node.value
    else if ("childNodes" in node && !isHidden(node)) {
      const separator = "tagName" in node && INLINE.has(node.tagName) ? [] : ([" "] as const)
      waiting.push(...separator, ...node.childNodes.toReversed(), ...separator)
      if (node.nodeName === "a") links.push(attributeOf(node, "href")?.trim() ?? "")
    }
  }
  return { text, links }
}

const attributeOf = (node: DefaultTreeAdapterTypes.ParentNode, wanted: string): string | undefined =>
  "attrs" in node ? node.attrs.find(({ name }) => name === wanted)?.value : undefined

const isHidden = (node: DefaultTreeAdapterTypes.ParentNode): boolean =>
  NEVER_SHOWN.has(node.nodeName) ||
  attributeOf(node, "hidden") !== undefined ||
  HIDING_STYLE.test((attributeOf(node, "style") ?? "").replaceAll(/\s/g, ""))
