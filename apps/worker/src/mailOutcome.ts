import type { MailOutcome } from "@outreach/domain/outreach/Mailer"

const bounced = (reason: (MailOutcome & { _tag: "Bounced" })["reason"]): MailOutcome => ({ _tag: "Bounced", reason })
const deferred: MailOutcome = { _tag: "Deferred" }
const refused: MailOutcome = { _tag: "Refused" }
const unreachable: MailOutcome = { _tag: "Unreachable" }

// Enhanced status codes (RFC 3463, RFC 7505), whole or their first two parts.
const BY_ENHANCED_CODE: Readonly<Record<string, MailOutcome>> = {
  "5.1.0": bounced("mailbox_not_found"),
  "5.1.1": bounced("mailbox_not_found"),
  "5.1.2": bounced("domain_not_found"),
  "5.1.3": bounced("address_invalid"),
  "5.1.7": refused, // our sender's address
  "5.1.8": refused,
  "5.1.10": bounced("domain_not_found"), // null MX
  "5.2.1": bounced("mailbox_disabled"),
  "5.2.2": deferred, // full
  "5.4.4": bounced("domain_not_found"),
  "5.7": refused,
}

// Reply codes (RFC 5321, RFC 7504), where no enhanced one decides.
const BY_CODE: Readonly<Record<number, MailOutcome>> = {
  501: bounced("address_invalid"),
  550: bounced("mailbox_not_found"),
  552: deferred, // full
  553: bounced("address_invalid"),
  556: bounced("domain_not_found"),
}

/** What nodemailer tells about a message that was not taken. */
export interface MailFailure {
  readonly code?: unknown
  /** The command that failed: `RCPT TO`, `DATA`, `MAIL FROM`, `CONN`, `AUTH PLAIN`, `API`. */
  readonly command?: unknown
  readonly responseCode?: unknown
  readonly response?: unknown
}

/** Judges why a message was not taken: by its enhanced status code, then by its reply code. */
export const mailOutcome = ({ code, command, responseCode, response }: MailFailure): MailOutcome => {
  // Before anything was said to the server: the address cannot be written in the protocol.
  if (command === "API" && code === "EENVELOPE") return bounced("address_invalid")
  if (typeof responseCode !== "number") return unreachable
  // Only these commands are about the recipient; a refusal of any other is about us.
  if (command !== "RCPT TO" && command !== "DATA") return responseCode < 500 ? unreachable : refused
  if (responseCode < 500) return deferred
  const enhanced = /^\d{3}[ -]#?(5\.\d{1,3})(\.\d{1,3})\b/.exec(typeof response === "string" ? response : "")
  return (
    BY_ENHANCED_CODE[`${enhanced?.[1]}${enhanced?.[2]}`] ??
    BY_ENHANCED_CODE[`${enhanced?.[1]}`] ??
    BY_CODE[responseCode] ??
    bounced("other")
  )
}
