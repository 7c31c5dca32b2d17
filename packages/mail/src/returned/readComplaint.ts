import type { Email } from "postal-mime"
import { MESSAGE_SEAL_HEADER } from "../mimeMessage.ts"
import { findLocalParts, originalHeadOf, partOf, readFieldGroups } from "./parseReturned.ts"

export interface Complaint {
  /** In lower case: `abuse`, `not-spam`, … */
  readonly feedbackType: string
  /** Possible local parts of the message's return path, the most credible first. */
  readonly localParts: ReadonlyArray<string>
}

/**
 * Reads feedback in the Abuse Reporting Format (RFC 5965) or in the form of Microsoft's Junk Mail Reporting Program. Returns undefined for any
 * other message. Providers may remove every address from a report, but leave our own header.
 */
export const readComplaint = (message: Email): Complaint | undefined => {
  const original = readFieldGroups(originalHeadOf(message).trimStart())[0] ?? new Map()
  const report = isFeedbackReport(message)
    ? readFieldGroups(partOf(message, "message/feedback-report").trimStart())[0]
    : undefined
  const feedbackType = report?.get("feedback-type") ?? (original.has(JUNK_MAIL_HEADER) ? "abuse" : undefined)
  if (feedbackType === undefined) return undefined
  const fields = [
    original.get(MESSAGE_SEAL_HEADER.toLowerCase()),
    report?.get("original-mail-from"),
    original.get("return-path"),
  ]
  return { feedbackType: feedbackType.toLowerCase(), localParts: findLocalParts(fields.join("\n")) }
}

/** RFC 5965, 2. */
const isFeedbackReport = ({ headers }: Email): boolean =>
  /^multipart\/report\b(?=.*report-type="?feedback-report(?![\w-]))/is.test(
    headers.find(({ key }) => key === "content-type")?.value ?? "",
  )

/** Microsoft sends a `multipart/mixed` message with this header and without a machine-readable part. */
const JUNK_MAIL_HEADER = "x-hmxmroriginalrecipient"
