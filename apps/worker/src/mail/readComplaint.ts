import { MESSAGE_SEAL_HEADER } from "@outreach/mail/mimeMessage"
import type { Email } from "postal-mime"
import { isReport, partOf, readFieldGroups } from "./parseReport.ts"

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
  const head = partOf(message, ...ORIGINAL_TYPES).slice(0, MAX_HEAD_LENGTH)
  const original = readFieldGroups(head.trimStart())[0] ?? new Map()
  const report = isReport(message, "feedback-report")
    ? readFieldGroups(partOf(message, "message/feedback-report").trimStart())[0]
    : undefined
  const feedbackType = report?.get("feedback-type") ?? (original.has(JUNK_MAIL_HEADER) ? "abuse" : undefined)
  if (feedbackType === undefined) return undefined
  const fields = [
    original.get(MESSAGE_SEAL_HEADER.toLowerCase()),
    report?.get("original-mail-from"),
    original.get("return-path"),
  ]
  return {
    feedbackType: feedbackType.toLowerCase(),
    localParts: fields.flatMap((field) => LOCAL_PART.exec(field ?? "")?.[0] ?? []),
  }
}

/** What providers call the reported message, or its head alone. */
const ORIGINAL_TYPES = ["message/rfc822", "text/rfc822-headers", "text/rfc822-header", "message/rfc822-headers"]

/** Of the message that a report is about, its head alone is read. */
const MAX_HEAD_LENGTH = 65_536

/** Microsoft sends a message with this header in `multipart/mixed`, and no part for machines. */
const JUNK_MAIL_HEADER = "x-hmxmroriginalrecipient"

// A server that forwards may have written it into an address of its own (SRS).
const LOCAL_PART = /bounce-[0-9a-f-]{51}/i
