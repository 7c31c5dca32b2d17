import { type DefaultTreeAdapterTypes, parse } from "parse5"

/** A value makes a link lead to something other than an http, https or mailto address. */
export class ForeignScheme extends Error {
  override readonly name = "ForeignScheme"
  override readonly message = "has a link whose field is not an http, https or mailto address"
}

/** What a template outputs or does, except the outputs that are always addresses or tokens of ours. */
const DYNAMIC = /\{\{(?!-?\s*(?:token|unsubscribe_url|short_link)\s*-?\}\}).*?\}\}|\{%.*?%\}/gs
/** Stands for it: a character for private use, which no parser takes for more than a letter. */
const MARK = "\uE010"
/** A filter that lets a value bring tags of its own. */
const UNESCAPED = /\|\s*raw\b/
/** The beginning of an address that decides its scheme, or that it has none of its own. Browsers skip spaces and control characters. */
const DECIDED = /^[\0- ]*(?:[a-z][a-z\d+.\t\n\r-]*:|[/\\?#])/i
const SCHEME = /^[\0- ]*([a-z][a-z\d+.\t\n\r-]*):/i
const RENDERED = new Set(["http", "https", "mailto"])

/**
 * Creates the function that throws a `ForeignScheme` for an HTML body in which a value has made an address lead to a script, to data or to any
 * scheme but http, https and mailto. A scheme that the template itself writes stays; undefined where it writes all of them.
 */
export const createSchemeCheck = (template: string): ((rendered: string) => void) | undefined => {
  const isDecided = addressesIn(template.replaceAll(DYNAMIC, MARK)).every(
    ({ address }) => !address.includes(MARK) || DECIDED.test(address.split(MARK)[0]!),
  )
  if (isDecided && !UNESCAPED.test(template)) return undefined
  return (rendered) => {
    for (const { address, written } of addressesIn(rendered)) {
      const scheme = SCHEME.exec(address)?.[1]
        ?.replaceAll(/[\t\n\r]/g, "")
        .toLowerCase()
      if (scheme !== undefined && !RENDERED.has(scheme) && !template.includes(written)) throw new ForeignScheme()
    }
  }
}

/** Returns an address of an HTML template that an e-mail can't resolve because it is relative. A value may supply its beginning. */
export const findRelativeAddress = (template: string): string | undefined =>
  addressesIn(template.replaceAll(DYNAMIC, MARK))
    .map(({ address }) => address.trim())
    .find((address) => !/^(?:$|#|\{\{)/.test(address) && !SCHEME.test(address) && !address.startsWith(MARK))

/** An address in a body, and what a template that writes its scheme holds. */
interface Address {
  readonly address: string
  readonly written: string
}

const ADDRESS_ATTRIBUTES = new Set(
  "href src action formaction background poster cite data longdesc ping dynsrc lowsrc codebase classid archive manifest usemap icon".split(
    " ",
  ),
)

const addressesIn = (html: string): ReadonlyArray<Address> => {
  const found: Array<Address> = []
  const waiting: Array<DefaultTreeAdapterTypes.Node> = [
    parse(html, { sourceCodeLocationInfo: true, scriptingEnabled: false }),
  ]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ("childNodes" in node) waiting.push(...node.childNodes)
    if ("content" in node) waiting.push(node.content)
    if ("value" in node && node.parentNode?.nodeName === "style") found.push(...addressesOf("style", node.value))
    if (!("tagName" in node)) continue
    for (const { name, prefix, value } of node.attrs) {
      const place = node.sourceCodeLocation?.attrs?.[prefix ? `${prefix}:${name}` : name]
      if (!ADDRESS_ATTRIBUTES.has(name)) found.push(...addressesOf(name, value))
      else if (place !== undefined) {
        const [written = ""] = /^[^=]*=[^:&]*[:&]?/.exec(html.slice(place.startOffset, place.endOffset)) ?? []
        found.push({ address: value, written })
      }
    }
  }
  return found
}

/** Returns the addresses in a style, and in attributes that hold several or more than an address. */
const addressesOf = (name: string, value: string): ReadonlyArray<Address> => {
  const addresses = name.endsWith("srcset")
    ? value.split(",")
    : name === "style"
      ? [...unescapeCss(value).matchAll(/url\(\s*["']?([^"')]*)/gi)].map(([, address]) => address!)
      : name === "content"
        ? [...value.matchAll(/url\s*=\s*["']?([^"']*)/gi)].map(([, address]) => address!)
        : []
  return addresses.map((address) => ({ address, written: address }))
}

/** Resolves the escapes of a style, behind which a scheme could hide. */
const unescapeCss = (style: string): string =>
  style.replaceAll(/\\([\da-f]{1,6})\s?/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
