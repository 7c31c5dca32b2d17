/** A reply of an SMTP server (RFC 5321, 4.2). */
export interface SmtpReply {
  readonly code: number
  /** All lines, each with its code. */
  readonly text: string
}

/** A code, then text after a space, or after a hyphen if more lines follow. */
const LINE = /^([2-5][0-5]\d)(?:([ -])|$)/

/** Maximum length of a reply in bytes. A reply to EHLO has a few hundred. */
const MAX_LENGTH = 65_536

/** Parses replies from received bytes, however they are split. */
export class SmtpReplyReader {
  /** The incomplete last line, one byte per character. */
  #rest = ""
  #lines: string[] = []

  /** Returns the completed replies, the error if the input isn't a reply, and whether another reply has started. */
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

/** Decodes text as UTF-8, or as Latin-1 if it is invalid: the protocol doesn't specify a character set. */
const decode = (text: string): string => {
  const utf8 = Buffer.from(text, "latin1").toString()
  return utf8.includes("\ufffd") ? text : utf8
}
