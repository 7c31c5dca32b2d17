import type { MailOutcome } from "@outreach/domain/outreach/Mailer"
import { judgeRefusal } from "./judgeRefusal.ts"

/** What nodemailer tells about a message that was not taken. */
export interface MailFailure {
  readonly code?: unknown
  /** The command that failed: `RCPT TO`, `DATA`, `MAIL FROM`, `CONN`, `AUTH PLAIN`, `API`. */
  readonly command?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
}

/** Judges why a message was not taken. */
export const mailOutcome = ({ code, command, responseCode, response }: MailFailure): MailOutcome => {
  // Before anything was said to the server: the address cannot be written in the protocol.
  if (command === "API" && code === "EENVELOPE") return { _tag: "Bounced", reason: "address_invalid" }
  // Only these commands are about the recipient. A server that refuses any other takes nothing from us, whoever it is for.
  if (typeof responseCode !== "number") return { _tag: "Unreachable" }
  if (command !== "RCPT TO" && command !== "DATA")
    return { _tag: "Unreachable", status: `${responseCode} to ${command}` }
  return judgeRefusal({ code: responseCode, text: typeof response === "string" ? response : "", at: command })
}
