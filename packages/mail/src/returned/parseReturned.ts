import PostalMime, { decodeWords, type Email } from "postal-mime"

/** Maximum size of a message that the worker receives. A report may contain the whole message: a body of at most 1 MiB, encoded. */
export const MAX_RETURNED_BYTES = 4_194_304

/** Limits that reports of mail servers are far below. A message above them is not read. */
const LIMITS = { maxNestingDepth: 20, maxHeadersSize: 262_144, maxRfc822NestingDepth: 0 } as const

/**
 * The part of a message that is read, from its start and from its end: the returned message can come before the report's own parts.
 * PostalMime's time grows with the square of the number of lines: seconds for 131,072 lines, milliseconds for these.
 */
const MAX_BYTES = { head: 98_304, tail: 32_768 }
const MAX_LINES = { head: 3000, tail: 1000 }

/** Parses an excerpt of a returned message, or returns undefined if it can't. The original message stays an attachment. */
export const parseReturned = (raw: Uint8Array): Promise<Email | undefined> =>
  PostalMime.parse(dropMiddleLines(raw), { ...LIMITS, forceRfc822Attachments: true }).catch(() => undefined)

/** Reads a message and keeps the part that `parseReturned` needs. Returns undefined above `MAX_RETURNED_BYTES`. */
export const readExcerpt = async (
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Uint8Array | undefined> => {
  const head: Array<Uint8Array> = []
  let headLength = 0
  let tail: Array<Uint8Array> = []
  let tailLength = 0
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > MAX_RETURNED_BYTES) return undefined
    const first = chunk.subarray(0, MAX_BYTES.head - headLength)
    if (first.length > 0) head.push(first)
    headLength += first.length
    tail.push(chunk.subarray(first.length))
    tailLength += chunk.length - first.length
    if (tailLength <= 2 * MAX_BYTES.tail) continue
    tail = [Buffer.concat(tail).subarray(-MAX_BYTES.tail)]
    tailLength = MAX_BYTES.tail
  }
  const isCut = headLength + tailLength < size
  return Buffer.concat([...head, ...(isCut ? [Buffer.from("\r\n")] : []), ...tail])
}

const dropMiddleLines = (raw: Uint8Array): Uint8Array => {
  const lines = Buffer.from(raw).toString("latin1").split("\n")
  if (lines.length <= MAX_LINES.head + MAX_LINES.tail) return raw
  return Buffer.from([...lines.slice(0, MAX_LINES.head), ...lines.slice(-MAX_LINES.tail)].join("\n"), "latin1")
}

/** Returns the decoded header fields by name in lower case. The first field of a name wins. */
export const headsOf = ({ headers }: Email): ReadonlyMap<string, string> =>
  new Map(headers.toReversed().map(({ key, value }) => [key, decodeWords(value)]))

/** Returns the texts of all attached parts of a media type. */
export const partsOf = ({ attachments }: Email, type: RegExp): ReadonlyArray<string> =>
  attachments
    .filter(({ mimeType }) => type.test(mimeType))
    .map(({ content }) => (typeof content === "string" ? content : new TextDecoder().decode(content)))

/** Returns the text for people, made from HTML if there is only HTML. */
export const textOf = ({ text, html }: Email): string =>
  text ??
  (html ?? "")
    .replace(/<(?:br|p|div|tr|li|h\d)\b[^<>]*>/gi, "\n")
    .replace(/<[^<>]*>/g, "")
    .replace(/&(lt|gt|amp|quot|nbsp|#39);/g, (_, name: keyof typeof ENTITIES) => ENTITIES[name])

const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"', nbsp: " ", "#39": "'" }

/** Returns the header of the original message from its part, or an empty text. */
export const originalHeadOf = (message: Email): string =>
  (partsOf(message, ORIGINAL_TYPE)[0] ?? "").slice(0, MAX_HEAD_LENGTH)

/** Media types of the original message or of its header. */
const ORIGINAL_TYPE = /^(?:(?:message|text)\/rfc822|message\/global)(?:-headers?)?$/i

const MAX_HEAD_LENGTH = 65_536

/** Reads groups of header fields that blank lines separate, with names in lower case and folded lines joined. */
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

/** Finds up to three possible local parts of our return paths, without duplicates. */
export const findLocalParts = (text: string): ReadonlyArray<string> =>
  [...new Set(Array.from(text.matchAll(LOCAL_PART), ([found]) => found.toLowerCase()))].slice(0, 3)

// A forwarder can write our address into one of its addresses (SRS).
const LOCAL_PART = /bounce-[0-9a-f-]{51}/gi
