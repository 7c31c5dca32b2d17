import { Redacted } from "effect"
import { textSchema } from "../textSchema.ts"

/** Additional headers of an endpoint's calls by name, such as an API key of the receiver. Their values are secrets. */
export type CustomHeaders = Redacted.Redacted<Readonly<Record<string, string>>>

const MAX_HEADERS = 10
const MAX_LENGTH = 4096
/** Shorter words of a value aren't masked: they also occur in other texts. */
const MIN_MASKED_LENGTH = 8

/** Names that this service, the connection or a proxy sets, and cookies, which belong to browsers. */
const RESERVED = new RegExp(
  `^(?:${[
    ...["accept-encoding", "connection", "content-.+", "cookie2?", "expect", "host", "http2-settings", "keep-alive"],
    ...["proxy-.+", "te", "trailers?", "transfer-encoding", "upgrade", "user-agent", "webhook-.+", "x-delivery-.+"],
    "x-signature",
  ].join("|")})$`,
  "i",
)

/** Parses lines such as `X-Api-Key: 123`. Throws `RangeError` without any part of a line, which may be secret. */
const parseHeaders = (text: string): CustomHeaders | undefined => {
  const headers = new Map<string, readonly [name: string, value: string]>()
  if (text.length > MAX_LENGTH) throw new RangeError(`it has more than ${MAX_LENGTH} characters`)
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue
    const [, name = "", value = ""] = /^([^:]*):(.*)$/s.exec(line) ?? []
    const wrong = (reason: string) => new RangeError(`line ${i + 1} ${reason}`)
    if (!/^[a-z][\w-]{0,63}$/i.test(name)) throw wrong("doesn't start with a header name and a colon")
    if (RESERVED.test(name)) throw wrong("has a reserved name")
    if (!/^[\x20-\x7e]+$/.test(value.trim()))
      throw wrong("has no value, or one with other than visible ASCII characters")
    if (headers.has(name.toLowerCase())) throw wrong("repeats a name")
    headers.set(name.toLowerCase(), [name, value.trim()])
  }
  if (headers.size > MAX_HEADERS) throw new RangeError(`there are more than ${MAX_HEADERS} headers`)
  return headers.size === 0 ? undefined : Redacted.make(Object.fromEntries(headers.values()), { label: "headers" })
}

/** Custom headers, one on each line; null for `none`. */
export const HeaderLines = textSchema<CustomHeaders | null>(
  `none, or up to ${MAX_HEADERS} lines such as X-Api-Key: 123`,
  (text) => (text.trim() === "none" ? null : parseHeaders(text)),
)

/** Returns the names of headers, which aren't secret. */
export const headerNames = (headers: CustomHeaders | null): ReadonlyArray<string> =>
  headers === null ? [] : Object.keys(Redacted.value(headers))

/** Masks the values of headers in a response that repeats them, and the start of a value at the end of a cut response. */
export const maskHeaderValues = (response: string, headers: CustomHeaders | null): string =>
  headers === null
    ? response
    : Object.values(Redacted.value(headers))
        .flatMap((value) => value.split(" "))
        .filter(({ length }) => length >= MIN_MASKED_LENGTH)
        .toSorted((one, other) => other.length - one.length)
        .reduce((masked, word) => maskEnd(masked.replaceAll(word, "•••"), word), response)

const maskEnd = (text: string, word: string): string => {
  for (let length = word.length; length >= MIN_MASKED_LENGTH; length--) {
    if (text.endsWith(word.slice(0, length))) return `${text.slice(0, -length)}•••`
  }
  return text
}
