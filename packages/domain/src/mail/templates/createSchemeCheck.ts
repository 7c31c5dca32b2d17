import { type DefaultTreeAdapterTypes, parse } from "parse5"

/** A value turned a link into something other than an http, https or mailto URL. */
export class ForeignScheme extends Error {
  override readonly name = "ForeignScheme"
  override readonly message = "has a link whose field is not an http, https or mailto address"
}

/** Outputs and tags of a template, except outputs that are always URLs or tokens of ours. */
const DYNAMIC = /\{\{(?!-?\s*(?:token|unsubscribe_url|short_link)\s*-?\}\}).*?\}\}|\{%.*?%\}/gs
/** Private-use placeholder, which parsers treat as a letter. */
const MARK = "\uE010"
/** A filter that allows a value to contain tags. */
const UNESCAPED = /\|\s*raw\b/
/** Start of a URL that determines its scheme, or that it has none. Browsers skip spaces and control characters. */
const DECIDED = /^[\0- ]*(?:[a-z][a-z\d+.\t\n\r-]*:|[/\\?#])/i
const SCHEME = /^[\0- ]*([a-z][a-z\d+.\t\n\r-]*):/i
const RENDERED = new Set(["http", "https", "mailto"])

/**
 * Creates the function that throws `ForeignScheme` if a value turned a URL of an HTML body into a script, data, or any
 * scheme except http, https and mailto. Schemes written by the template are allowed; undefined if it writes all of them.
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

/** Returns a relative URL of an HTML template, which an e-mail can't resolve. A value may supply its start. */
export const findRelativeAddress = (template: string): string | undefined =>
  addressesIn(template.replaceAll(DYNAMIC, MARK))
    .map(({ address }) => address.trim())
    .find((address) => !/^(?:$|#|\{\{)/.test(address) && !SCHEME.test(address) && !address.startsWith(MARK))

/** A URL in a body, and the template's content if it writes the scheme. */
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

/** Returns the URLs in a style, and in attributes with several URLs or other content. */
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

/** Resolves the escapes of a style, which could hide a scheme. */
const unescapeCss = (style: string): string =>
  style.replaceAll(/\\([\da-f]{1,6})\s?/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
