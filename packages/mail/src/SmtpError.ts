import type { SmtpReply } from "./SmtpReplyReader.ts"

/** Why an SMTP server did not carry out a command. */
export class SmtpError extends Error {
  /**
   * `EREPLY` is a refusal, `EAUTH` one of the login, `ETLS` the lack of TLS that is required, `EPROTOCOL` a reply that is not well-formed or that
   * nothing was waiting for; `ETIMEDOUT`, `ECONNECTION` (the server hung up) and `ESOCKET` are the network's; `EENVELOPE`, `ESMTPUTF8` and
   * `ELEASE` are our own.
   */
  readonly code: string
  /** The command that failed: `MAIL FROM`, `RCPT TO`, `DATA`, `AUTH PLAIN`; `CONN` for none, `API` before anything was said. */
  readonly command: string
  readonly responseCode?: number
  /** All lines of that reply. */
  readonly response?: string
  /** What the system calls the error, or the code of a reply that was not expected. */
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

/** Describes why an SMTP server did not carry out a command, by codes alone: the server's own words may hold an address. */
export const describeSmtpFailure = (error: unknown): string => {
  const { code = "unknown", originalCode, command, responseCode, response = "" } = (error ?? {}) as Partial<SmtpError>
  if (code === "ETLS") return "it offers no TLS, which is required"
  const at = command === undefined ? "" : ` at ${command}`
  // The system's word, such as CERT_HAS_EXPIRED, says what is wrong.
  if (responseCode === undefined) return `${(code === "ESOCKET" && originalCode) || code}${at}`
  const [enhanced = ""] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response) ?? []
  return `${[responseCode, enhanced].filter(Boolean).join(" ")}${at}`
}
