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

/** Describes an SMTP failure by codes only, because the server's text may contain an address. */
export const describeSmtpFailure = (error: unknown): string => {
  const { code = "unknown", originalCode, command, responseCode, response = "" } = (error ?? {}) as Partial<SmtpError>
  if (code === "ETLS") return "it offers no TLS, which is required"
  const at = command === undefined ? "" : ` at ${command}`
  // The system's error code, such as CERT_HAS_EXPIRED, is more specific.
  if (responseCode === undefined) return `${(code === "ESOCKET" && originalCode) || code}${at}`
  const [enhanced = ""] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response) ?? []
  return `${[responseCode, enhanced].filter(Boolean).join(" ")}${at}`
}
