import type { Email } from "postal-mime"
import type { Reading } from "./judgeReasons.ts"
import { findLocalParts, originalHeadOf, textOf } from "./parseReturned.ts"
import { readComplaint } from "./readComplaint.ts"
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
  if (complaint !== undefined) {
    return { kind: "complaint", rule: "feedback report (RFC 5965)", sureness: "certain", ...complaint }
  }
  const localParts = findLocalParts(`${originalHeadOf(message)}\n${textOf(message)}`)
  const found = readReport(message) ?? readNotice(message)
  return { ...(found ?? { kind: "message", rule: "none", sureness: "guess" }), localParts }
}
