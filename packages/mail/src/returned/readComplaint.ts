import type { Email } from "postal-mime"
import { MESSAGE_SEAL_HEADER } from "../mimeMessage.ts"
import { findLocalParts, originalHeadOf, partOf, readFieldGroups } from "./parseReturned.ts"

export interface Complaint {
  /** In lower case: `abuse`, `not-spam`, … */
  readonly feedbackType: string
  /** What may be the local part of the message's return path, the most credible first. */
  readonly localParts: ReadonlyArray<string>
}

/**
 * Reads feedback in the Abuse Reporting Format (RFC 5965), or in the form of Microsoft's Junk Mail Reporting Program; undefined for a message that is
 * neither. A report may have lost every address: the header of our own is what a provider leaves.
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

/** Microsoft sends a message with this header in `multipart/mixed`, and no part for machines. */
const JUNK_MAIL_HEADER = "x-hmxmroriginalrecipient"
