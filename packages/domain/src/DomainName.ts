import { textSchema } from "./textSchema.ts"

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const HOST_NAME = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)+(?!\\d+$)${LABEL}$`, "i")

export const isAscii = (text: string): boolean => /^[ -~]*$/.test(text)

/** Characters allowed in an internationalised name, but not in other parts of a URL. */
const NAME_CHARACTERS = /^[a-z0-9.\u{80}-\u{10ffff}-]+$/iu

/**
 * Converts a domain name to ASCII: other letters become A-labels (RFC 5890). Returns undefined unless it is a domain name of at
 * least two labels.
 */
export const toAsciiDomain = (name: string): string | undefined => {
  if (HOST_NAME.test(name)) return name
  if (isAscii(name) || !NAME_CHARACTERS.test(name)) return undefined
  // The host of a URL is mapped by UTS 46.
  const ascii = URL.parse(`http://${name}/`)?.hostname
  return ascii !== undefined && HOST_NAME.test(ascii) ? ascii : undefined
}

/** A domain name in lowercase ASCII, parsed from a name that may contain other letters. */
export const DomainName = textSchema("a domain name, such as mail.acme.example", (text) =>
  toAsciiDomain(text)?.toLowerCase(),
)
