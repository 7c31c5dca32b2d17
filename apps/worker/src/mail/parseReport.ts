import PostalMime, { type Email } from "postal-mime"

/** No report of a mail server comes near these; a message beyond them is not read. */
const LIMITS = { maxNestingDepth: 20, maxHeadersSize: 262_144, maxRfc822NestingDepth: 0 } as const

/**
 * How much of a message is read. A report's own parts come before the message that it is about, whose head follows; PostalMime takes time that
 * grows with the square of the lines: seconds for 131,072, and milliseconds for these.
 */
export const MAX_READ_BYTES = 131_072
const MAX_READ_LINES = 4000

/** Reads a message whose parts may be a report; undefined when it cannot be read. The message that a report is about stays an attachment. */
export const parseReport = (raw: Uint8Array): Promise<Email | undefined> =>
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
  type: "delivery-status" | "global-delivery-status" | "feedback-report",
): boolean => {
  const contentType = headers.find(({ key }) => key === "content-type")?.value ?? ""
  return (
    /^multipart\/report\b/i.test(contentType) && new RegExp(`report-type="?${type}(?![\\w-])`, "i").test(contentType)
  )
}

/** Returns the text of the first part of one of these types; empty when there is none. */
export const partOf = ({ attachments }: Email, ...types: ReadonlyArray<string>): string => {
  const content = attachments.find(({ mimeType }) => types.includes(mimeType.toLowerCase()))?.content
  return typeof content === "string" ? content : new TextDecoder().decode(content)
}

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
