/** Number of characters read of a response, of its line, and shown. */
const [MAX_RESPONSE, MAX_LINE, MAX_SHOWN] = [1000, 240, 160]

/** A script or style with its content, or a tag; also unterminated. */
const MARKUP = /<(script|style)\b.*?(?:<\/\1[^>]*>?|$)|<[^>]*>?/gis
/** Characters around a word that may be an address. */
const SEPARATOR = /[\s"'<>(),;:=]/
const WORD = /[^\s"'<>(),;:=]+/g
/** Other forms of an at sign: HTML entities, full-width and small. */
const FOREIGN_AT = /&(?:#0{0,5}64|#x0{0,5}40|commat);|[\uff20\ufe6b]/gi
/** An address, which may be encoded for a link or for JSON. */
const ADDRESS = /.(?:@|%(?:25)*40|\\u0040)./i
/** A number that is kept, with the preceding word that marks it as a status. */
const STATUS =
  /(\b(?:http|response|status|error)?[ _-]?(?:http|status|code|error)\b(?:\/\d(?:\.\d)?)?["']?(?: is| was)?[\s:=#(/"'-]{1,4})([1-5]\d\d)(?![\p{L}\p{N}_-]|\.\d)/giu
/** Private-use character in front of numbers that aren't masked. */
const MARKER = "\ue000"

/**
 * Returns the line of a response by which failures are grouped: the first with text, without markup, at most 160 characters; null for none.
 *
 * Masks everything that differs between responses or may be personal: addresses, NPIs, tokens, ids, times and numbers. Three digits
 * are kept if they are a status: after "status", "HTTP", "code" or "error". JSON is read as one line. All operators can see the line.
 */
export const failureLine = (response: string | null): string | null => {
  if (response === null) return null
  const text = cut(response, MAX_RESPONSE).replaceAll(MARKER, " ").replaceAll(MARKUP, "\n").trimStart()
  const line = /^[{[]/.test(text) ? text : text.split(/[\r\n]/, 1)[0]!
  const masked = maskTokens(maskNumbers(maskAddresses(cut(line, MAX_LINE))))
  const characters = [...masked.replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, " ").trim()]
  return characters.slice(0, MAX_SHOWN).join("").trimEnd() || null
}

/** Returns the start of a text without its last, cut word, which may be part of an address. */
const cut = (text: string, length: number): string => {
  if (text.length <= length) return text
  let end = length
  while (end > 0 && !SEPARATOR.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

const maskAddresses = (line: string): string =>
  line.replaceAll(FOREIGN_AT, "@").replaceAll(WORD, (word) => (ADDRESS.test(word) ? "[e-mail]" : word))

/** Masks words with a digit, such as ids, tokens and dates, and then all other numbers. */
const maskNumbers = (line: string): string =>
  line
    .replaceAll(STATUS, `$1${MARKER}$2`)
    .replaceAll(/[\p{L}\p{N}_][\p{L}\p{N}_-]{5,}/gu, (word) => (/\p{N}/u.test(word) ? "#" : word))
    .replaceAll(/(?<![\p{N}\ue000])\p{N}+/gu, "#")
    .replaceAll(MARKER, "")

/** Masks tokens without a digit: words of six letters with a capital after a small letter. */
const maskTokens = (line: string): string =>
  line.replaceAll(/\b[A-Za-z]{6}\b/g, (word) => (/[a-z].*[A-Z]/.test(word) ? "#" : word))
