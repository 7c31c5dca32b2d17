/** The kinds of messages that are read; of others the length alone. */
const READ_KINDS: ReadonlySet<number> = new Set(Buffer.from("ENSZ"))

/** Finds the messages in what a server of PostgreSQL sends, however it is cut into chunks. */
export class MessageScanner {
  private readonly onMessage: (kind: string, body: Buffer) => void
  private partial: Buffer | undefined
  private skip = 0

  /** Calls `onMessage` with each ErrorResponse (E), NoticeResponse (N), ParameterStatus (S) and ReadyForQuery (Z). */
  constructor(onMessage: (kind: string, body: Buffer) => void) {
    this.onMessage = onMessage
  }

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
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      const kind = bytes[at]!
      if (READ_KINDS.has(kind)) {
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
