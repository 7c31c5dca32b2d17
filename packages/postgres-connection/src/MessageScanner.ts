import { SocketError } from "./SocketError.ts"

/** The kinds of messages that are read; of others the length alone. */
const READ_KINDS: ReadonlySet<number> = new Set(Buffer.from("ENSZ"))
/** Of an error or a notice that is longer, nothing is read. */
const MAX_READ_LENGTH = 65_536

/** The kinds that may be long, as libpq knows them: rows, copied data, results of functions, errors, notices and notifications. */
const LONG_KINDS: ReadonlySet<number> = new Set(Buffer.from("TDdVENA"))
const MAX_LENGTH = 30_000
const MAX_LONG_LENGTH = 2 ** 30

/** Creates the error of a server that sends what is not a message of PostgreSQL. */
export const notPostgres = (): SocketError => new SocketError("EPROTO", "The server sent what is not a valid message")

/** Returns where the message ends that begins at a place with its kind and its length. Throws if no server sends such a length. */
export const endOfMessage = (bytes: Buffer, at: number): number => {
  const length = bytes.readUInt32BE(at + 1)
  if (length < 4 || length > (LONG_KINDS.has(bytes[at]!) ? MAX_LONG_LENGTH : MAX_LENGTH)) throw notPostgres()
  return at + 1 + length
}

/** Finds the messages in what a server of PostgreSQL sends, however it is cut into chunks. */
export class MessageScanner {
  private readonly onMessage: (kind: string, body: Buffer) => void
  private partial: Buffer | undefined
  private skip = 0

  /** Calls `onMessage` with each ErrorResponse (E), NoticeResponse (N), ParameterStatus (S) and ReadyForQuery (Z). */
  constructor(onMessage: (kind: string, body: Buffer) => void) {
    this.onMessage = onMessage
  }

  /** Takes the next chunk. Throws a `SocketError` at what no server sends. */
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

/** Reads a field of an ErrorResponse or a NoticeResponse, such as C for the SQLSTATE. */
export const readField = (body: Buffer, field: string): string | undefined => {
  for (const text of body.toString("utf8").split("\0")) if (text.startsWith(field)) return text.slice(1)
  return undefined
}
