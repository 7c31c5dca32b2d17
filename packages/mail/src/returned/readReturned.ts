import type { Email } from "postal-mime"
import { MESSAGE_SEAL_HEADER } from "../mimeMessage.ts"
import type { Reading } from "./judgeReasons.ts"
import { findLocalParts, originalHeadOf, partsOf, readFieldGroups, textOf } from "./parseReturned.ts"
import { readNotice } from "./readNotice.ts"
import { readReport } from "./readReport.ts"

/**
 * The content of a message to a return path or to an address for complaints.
 *
 * A `certain` reading comes from machine-readable fields with a known status; a `likely` one from a known form with known words or a known code.
 * Both count the same. A `guess` never means that an address is wrong or that a domain blocks us.
 */
export type Returned = Reading & {
  /** Possible local parts of the message's return path in the returned message, the most credible first. */
  readonly localParts: ReadonlyArray<string>
}

/** Classifies a returned message. Never throws. */
export const readReturned = (message: Email): Returned => {
  const complaint = readComplaint(message)
  if (complaint !== undefined) return complaint
  const localParts = findLocalParts(`${originalHeadOf(message)}\n${textOf(message)}`)
  const found = readReport(message) ?? readNotice(message)
  return { ...(found ?? { kind: "message", rule: "none", sureness: "guess" }), localParts }
}

/**
 * Reads feedback in the Abuse Reporting Format (RFC 5965) or in the form of Microsoft's Junk Mail Reporting Program. Returns undefined for any
 * other message. Providers may remove every address from a report, but leave our own header.
 */
const readComplaint = (message: Email): Returned | undefined => {
  const [original] = readFieldGroups(originalHeadOf(message).trimStart())
  const [part = ""] = isFeedbackReport(message) ? partsOf(message, /^message\/feedback-report$/i) : []
  const [report] = readFieldGroups(part.trimStart())
  const feedbackType = report?.get("feedback-type") ?? (original?.has(JUNK_MAIL_HEADER) ? "abuse" : undefined)
  if (feedbackType === undefined) return undefined
  const fields = [
    original?.get(MESSAGE_SEAL_HEADER.toLowerCase()),
    report?.get("original-mail-from"),
    original?.get("return-path"),
  ]
  const rule = "feedback report (RFC 5965)"
  const localParts = findLocalParts(fields.join("\n"))
  return { kind: "complaint", rule, sureness: "certain", feedbackType: feedbackType.toLowerCase(), localParts }
}

/** RFC 5965, 2. */
const isFeedbackReport = ({ headers }: Email): boolean =>
  /^multipart\/report\b(?=.*report-type="?feedback-report(?![\w-]))/is.test(
    headers.find(({ key }) => key === "content-type")?.value ?? "",
  )

/** Microsoft sends a `multipart/mixed` message with this header and without a machine-readable part. */
const JUNK_MAIL_HEADER = "x-hmxmroriginalrecipient"
