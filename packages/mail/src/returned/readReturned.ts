import type { Email } from "postal-mime"
import type { Judgement, Sureness } from "./judgeReasons.ts"
import { findLocalParts, originalHeadOf, textOf } from "./parseReturned.ts"
import { readComplaint } from "./readComplaint.ts"
import { readNotice } from "./readNotice.ts"
import { readReport } from "./readReport.ts"

/**
 * What came to a return path, or to an address for complaints.
 *
 * A `certain` reading is of fields for machines with a status that is known; a `likely` one of a form that is known, with words or a code that are
 * known. Both count alike. A `guess` says neither that an address is wrong nor that a domain refuses us.
 */
export type Returned = {
  /** The form that was recognised. */
  readonly rule: string
  readonly sureness: Sureness
  /** What may be the local part of the message's return path, as the message that came back names it; the most credible first. */
  readonly localParts: ReadonlyArray<string>
} & (
  | ({ readonly kind: "bounce" } & Pick<Judgement, "verdict" | "status">)
  /** The server tries on. */
  | { readonly kind: "delay" }
  /** The message was delivered, or passed on to anybody. */
  | { readonly kind: "delivered" }
  | { readonly kind: "complaint"; readonly feedbackType: string }
  /** Anything else, such as an automatic reply. */
  | { readonly kind: "message" }
)

/** Reads what a message is that came back. It never throws. */
export const readReturned = (message: Email): Returned => {
  const complaint = readComplaint(message)
  if (complaint !== undefined) {
    return { kind: "complaint", rule: "feedback report (RFC 5965)", sureness: "certain", ...complaint }
  }
  const localParts = findLocalParts(`${originalHeadOf(message)}\n${textOf(message)}`)
  const found = readReport(message) ?? readNotice(message)
  return { ...(found ?? { kind: "message", rule: "none", sureness: "guess" }), localParts }
}
