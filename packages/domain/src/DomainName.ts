import { textSchema } from "./textSchema.ts"

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const HOST_NAME = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)+(?!\\d+$)${LABEL}$`, "i")

export const isAscii = (text: string): boolean => /^[ -~]*$/.test(text)

/** What may stand in an internationalised name and in no other part of a URL. */
const NAME_CHARACTERS = /^[a-z0-9.\u{80}-\u{10ffff}-]+$/iu

/**
 * Returns a domain name in ASCII: one with other letters as its A-labels (RFC 5890), any other as it is. Returns undefined for what is not a domain name of at
 * least two labels.
 */
export const toAsciiDomain = (name: string): string | undefined => {
  if (HOST_NAME.test(name)) return name
  if (isAscii(name) || !NAME_CHARACTERS.test(name)) return undefined
  // The host of a URL is mapped by UTS 46.
  const ascii = URL.parse(`http://${name}/`)?.hostname
  return ascii !== undefined && HOST_NAME.test(ascii) ? ascii : undefined
}

/** A domain name in lower case and ASCII, from one that may have other letters. */
export const DomainName = textSchema("a domain name, such as mail.acme.example", (text) =>
  toAsciiDomain(text)?.toLowerCase(),
)
