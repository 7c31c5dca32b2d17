/** A reply of an SMTP server (RFC 5321 4.2). */
export interface SmtpReply {
  readonly code: number
  /** All of its lines, each with its code. */
  readonly text: string
}

/** A code, and a text after a space, or after a hyphen if more lines follow. */
const LINE = /^([2-5][0-5]\d)(?:([ -])|$)/

/** The longest reply, in bytes; that to EHLO has some hundred. */
const MAX_LENGTH = 65_536

/** Reads replies from the bytes that a server sends, however they are split. */
export class SmtpReplyReader {
  /** A part of a line, one byte a character. */
  #rest = ""
  #lines: string[] = []

  /** Returns the replies that these bytes complete, what was read before something that is no reply, and whether another has begun. */
  read(bytes: Buffer): {
    readonly replies: ReadonlyArray<SmtpReply>
    readonly isMalformed: boolean
    readonly isPartial: boolean
  } {
    const replies: SmtpReply[] = []
    const lines = (this.#rest + bytes.toString("latin1")).split(/\r?\n/)
    this.#rest = lines.pop()!
    for (const line of lines) {
      const [, code, separator] = LINE.exec(line) ?? []
      // All lines of a reply have the same code.
      if (code === undefined || this.#lines[0]?.startsWith(code) === false) {
        return { replies, isMalformed: true, isPartial: false }
      }
      this.#lines.push(line)
      if (separator === "-") continue
      replies.push({ code: Number(code), text: decode(this.#lines.join("\n")) })
      this.#lines = []
    }
    const length = this.#lines.reduce((sum, line) => sum + line.length, this.#rest.length)
    return { replies, isMalformed: length > MAX_LENGTH, isPartial: length > 0 }
  }
}

/** Reads a text as UTF-8, or as Latin-1 where it is none: the protocol names no character set. */
const decode = (text: string): string => {
  const utf8 = Buffer.from(text, "latin1").toString()
  return utf8.includes("\ufffd") ? text : utf8
}
