import PostalMime, { decodeWords, type Email } from "postal-mime"

/** No report of a mail server comes near these; a message beyond them is not read. */
const LIMITS = { maxNestingDepth: 20, maxHeadersSize: 262_144, maxRfc822NestingDepth: 0 } as const

/**
 * How much of a message is read. A report's own parts mostly come before the message that it is about, whose head follows; PostalMime takes time that
 * grows with the square of the lines: seconds for 131,072, and milliseconds for these.
 */
export const MAX_READ_BYTES = 131_072
const MAX_READ_LINES = 4000

/** Reads a message that came back; undefined when it cannot be read. The message that a report is about stays an attachment. */
export const parseReturned = (raw: Uint8Array): Promise<Email | undefined> =>
  PostalMime.parse(beginningOf(raw), { ...LIMITS, forceRfc822Attachments: true }).catch(() => undefined)

const beginningOf = (raw: Uint8Array): Uint8Array => {
  const bytes = raw.subarray(0, MAX_READ_BYTES)
  let end = -1
  for (let line = 0; line < MAX_READ_LINES; line++) {
    end = bytes.indexOf(0x0a, end + 1)
    if (end === -1) return bytes
  }
  return bytes.subarray(0, end + 1)
}

/** Returns whether a message is a report (RFC 6522) of a type. */
export const isReport = (
  { headers }: Email,
  type: "delivery-status" | "global-delivery-status" | "feedback-report" | "disposition-notification",
): boolean => {
  const contentType = headers.find(({ key }) => key === "content-type")?.value ?? ""
  return (
    /^multipart\/report\b/i.test(contentType) && new RegExp(`report-type="?${type}(?![\\w-])`, "i").test(contentType)
  )
}

/** Returns the header fields by their names in lower case, as people read them; of several of one name, the first. */
export const headsOf = ({ headers }: Email): ReadonlyMap<string, string> =>
  new Map(headers.toReversed().map(({ key, value }) => [key, decodeWords(value)]))

/** Returns the text of the first part of one of these types; empty when there is none. */
export const partOf = (message: Email, ...types: ReadonlyArray<string>): string => partsOf(message, ...types)[0] ?? ""

/** Returns the texts of all parts of these types, except those that are the message's own text. */
export const partsOf = ({ attachments }: Email, ...types: ReadonlyArray<string>): ReadonlyArray<string> =>
  attachments
    .filter(({ mimeType }) => types.includes(mimeType.toLowerCase()))
    .map(({ content }) => (typeof content === "string" ? content : new TextDecoder().decode(content)))

/** Returns the text for people, from HTML where there is nothing else. */
export const textOf = ({ text, html }: Email): string =>
  text ??
  (html ?? "")
    .replace(/<(?:br|p|div|tr|li|h\d)\b[^<>]*>/gi, "\n")
    .replace(/<[^<>]*>/g, "")
    .replace(/&(?:lt|gt|amp|quot|nbsp|#39);/g, (entity) => ENTITIES[entity]!)

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&nbsp;": " ",
  "&#39;": "'",
}

/** Returns the head of the message that came back, as its own part holds it; empty when there is none. */
export const originalHeadOf = (message: Email): string => partOf(message, ...ORIGINAL_TYPES).slice(0, MAX_HEAD_LENGTH)

/** What the returned message is called, or its head alone. */
const ORIGINAL_TYPES = [
  "message/rfc822",
  "message/global",
  "text/rfc822-headers",
  "text/rfc822-header",
  "text/rfc822",
  "message/rfc822-headers",
  "message/global-headers",
]

const MAX_HEAD_LENGTH = 65_536

/** Reads groups of header fields that blank lines part, with the names in lower case; a line that begins with a space goes on. */
export const readFieldGroups = (text: string): ReadonlyArray<ReadonlyMap<string, string>> =>
  text
    .replace(/\r\n?/g, "\n")
    .split(/\n[ \t]*\n+/)
    .map((group) => {
      const lines = group.replace(/\n[ \t]+/g, " ").split("\n")
      return new Map(
        lines.flatMap((line) => {
          const [, name, value] = /^([\w-]+)[ \t]*:[ \t]*(.*)$/.exec(line) ?? []
          return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.trim()] as const]
        }),
      )
    })

/** Finds what may be local parts of our return paths, each once and at most three. */
export const findLocalParts = (text: string): ReadonlyArray<string> =>
  [...new Set(Array.from(text.matchAll(LOCAL_PART), ([found]) => found.toLowerCase()))].slice(0, 3)

// A server that forwards may have written it into an address of its own (SRS).
const LOCAL_PART = /bounce-[0-9a-f-]{51}/gi
