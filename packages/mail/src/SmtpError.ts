import type { SmtpReply } from "./SmtpReplyReader.ts"

/** Reason why an SMTP server didn't execute a command. */
export class SmtpError extends Error {
  /**
   * `EREPLY`: rejection; `EAUTH`: rejected login; `ETLS`: required TLS isn't offered; `EPROTOCOL`: malformed or unexpected
   * reply; `ETIMEDOUT`, `ECONNECTION` (closed by the server) and `ESOCKET`: network; `EENVELOPE`, `ESMTPUTF8` and
   * `ELATE`: our own.
   */
  readonly code: string
  /** The failed command: `MAIL FROM`, `RCPT TO`, `DATA`, `AUTH PLAIN`; `CONN` before any command, `API` before connecting. */
  readonly command: string
  readonly responseCode?: number
  /** All lines of the reply. */
  readonly response?: string
  /** The operating system's error code, or the code of an unexpected reply. */
  readonly originalCode?: string

  constructor(
    code: string,
    command: string,
    about: { readonly reply?: SmtpReply; readonly originalCode?: string } = {},
  ) {
    super(`${code} at ${command}`)
    this.code = code
    this.command = command
    if (about.reply !== undefined) {
      this.responseCode = about.reply.code
      this.response = about.reply.text
    }
    if (about.originalCode !== undefined) this.originalCode = about.originalCode
  }
}
