import { Base64 } from "effect/encoding"
import { isAscii } from "../DomainName.ts"
import type { Subject } from "./Erasure.ts"

export type Needles = Omit<Subject, "organizationId">

/** Creates a function that returns whether a text contains the subject's identifiers, in any case, and encoded in JSON, URLs and base64. */
export const createMatcher = ({ npis, emails, recipients }: Needles): ((text: string) => boolean) => {
  const plain = [
    ...npis.map((npi) => new RegExp(`(?<!\\d)${npi}(?!\\d)`)),
    ...emails.map((email) => new RegExp(`(?<![\\w.+-])${email.replaceAll(/[^\w@]/g, "\\$&")}(?![\\w-]|\\.\\w)`, "i")),
    ...recipients.map(({ token }) => new RegExp(`(?<![0-9A-Za-z])${token}(?![0-9A-Za-z])`)),
  ]
  const encoded = [...npis, ...emails].flatMap(base64Forms)
  return (text) =>
    encoded.some((form) => text.includes(form)) ||
    [
      text,
      unescapeHex(text.replaceAll(/\\[bfnrt]/g, " "), /\\u([0-9a-f]{4})/gi),
      unescapeHex(text, /%([0-7][0-9a-f])/gi),
    ].some((form) => plain.some((pattern) => pattern.test(form)))
}

/** Returns `like` patterns for lowercase text that cover all matches of `createMatcher`. */
export const likePatterns = ({ npis, emails, recipients }: Needles): ReadonlyArray<string> => {
  const values = [...npis, ...emails, ...recipients.map(({ token }) => token)]
  const escaped = emails.every(isAscii) ? "\\u00" : "\\u"
  const forms = [...values, ...[...npis, ...emails].flatMap(base64Forms), escaped, "%40"]
  return forms.map((form) => `%${form.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`)
}

const unescapeHex = (text: string, pattern: RegExp): string =>
  text.replaceAll(pattern, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

const encoder = new TextEncoder()

/** Returns the base64 and base64url forms of a value inside any text, for each of the three possible offsets. */
const base64Forms = (value: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = new Uint8Array([...new Uint8Array(offset), ...encoder.encode(value)])
    const whole = Base64.encode(bytes).slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
    return [...new Set([whole, whole.replaceAll("+", "-").replaceAll("/", "_")])]
  })
