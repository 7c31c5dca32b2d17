import { Data } from "effect"
import type { SmtpReply } from "./SmtpReplyReader.ts"

/** Reason why an SMTP server didn't execute a command. */
export class SmtpError extends Data.Error<{
  /**
   * `EREPLY`: rejection; `EAUTH`: rejected login; `ETLS`: required TLS isn't offered; `EPROTOCOL`: malformed or unexpected
   * reply; `ETIMEDOUT`, `ECONNECTION` (closed by the server) and `ESOCKET`: network; `EENVELOPE`, `ESMTPUTF8` and
   * `ELATE`: our own.
   */
  readonly code: string
  /** The failed command: `MAIL FROM`, `RCPT TO`, `DATA`, `AUTH PLAIN`; `CONN` before any command, `API` before connecting. */
  readonly command: string
  readonly reply?: SmtpReply
  /** The operating system's error code, or the code of an unexpected reply. */
  readonly originalCode?: string
}> {}
