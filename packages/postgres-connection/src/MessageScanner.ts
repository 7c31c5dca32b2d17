import { SocketError } from "./SocketError.ts"

/** Parsed kinds of messages; others are skipped by length. */
const READ_KINDS: ReadonlySet<number> = new Set(Buffer.from("ENSZ"))
/** Longer errors and notices aren't parsed. */
const MAX_READ_LENGTH = 65_536

/** Kinds that may be long, according to libpq: rows, copied data, function results, errors, notices and notifications. */
const LONG_KINDS: ReadonlySet<number> = new Set(Buffer.from("TDdVENA"))
const MAX_LENGTH = 30_000
const MAX_LONG_LENGTH = 2 ** 30

/** Creates the error for input that isn't PostgreSQL's protocol. */
export const notPostgres = (): SocketError => new SocketError("EPROTO", "The server sent what is not a valid message")

/** Returns the end of the message that starts at a position. Throws if the length is invalid. */
export const endOfMessage = (bytes: Buffer, at: number): number => {
  const length = bytes.readUInt32BE(at + 1)
  if (length < 4 || length > (LONG_KINDS.has(bytes[at]!) ? MAX_LONG_LENGTH : MAX_LENGTH)) throw notPostgres()
  return at + 1 + length
}

/** Finds messages in a PostgreSQL server's output, however it is split. */
export class MessageScanner {
  private readonly onMessage: (kind: string, body: Buffer) => void
  private partial: Buffer | undefined
  private skip = 0

  /** Calls `onMessage` with each ErrorResponse (E), NoticeResponse (N), ParameterStatus (S) and ReadyForQuery (Z). */
  constructor(onMessage: (kind: string, body: Buffer) => void) {
    this.onMessage = onMessage
  }

  /** Processes the next chunk. Throws `SocketError` on invalid input. */
  scan(chunk: Buffer): void {
    if (this.skip >= chunk.length) {
      this.skip -= chunk.length
      return
    }
    const bytes = this.partial === undefined ? chunk : Buffer.concat([this.partial, chunk])
    let at = this.skip
    this.skip = 0
    this.partial = undefined
    while (bytes.length - at >= 5) {
      const end = endOfMessage(bytes, at)
      const kind = bytes[at]!
      if (READ_KINDS.has(kind) && end - at <= MAX_READ_LENGTH) {
        if (end > bytes.length) break
        this.onMessage(String.fromCharCode(kind), bytes.subarray(at + 5, end))
      } else if (end > bytes.length) {
        this.skip = end - bytes.length
        return
      }
      at = end
    }
    if (at < bytes.length) this.partial = bytes.subarray(at)
  }
}

/** Returns a field of an ErrorResponse or a NoticeResponse, such as C for the SQLSTATE. */
export const readField = (body: Buffer, field: string): string | undefined => {
  for (const text of body.toString("utf8").split("\0")) if (text.startsWith(field)) return text.slice(1)
  return undefined
}
