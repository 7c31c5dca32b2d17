import type { ReportedOutcome } from "../Transport.ts"

/**
 * Cause of a rejection after a server had accepted the message: our reputation, the message, a full mailbox, or a server that didn't
 * accept it in time.
 */
export const LATE_REFUSAL_CAUSES = ["policy", "content", "full", "expired", "other"] as const
export type LateRefusalCause = (typeof LATE_REFUSAL_CAUSES)[number]

/** The message's content or length (RFC 3463). */
const CONTENT = /\b[45]\.(6\.\d|2\.3\b|3\.4\b)/
const FULL =
  /\b[45]\.2\.2\b|\bfull\b|quota|storage|(disk|enough) space|pleine|llen[oa]\b|cheia|pien[oa]\b|\bvoll\b|переполн/i

/** Returns the cause of a reported rejection that isn't a hard bounce. */
export const lateRefusalCause = (verdict: ReportedOutcome): LateRefusalCause => {
  if (verdict._tag === "Refused") return CONTENT.test(verdict.status) ? "content" : "policy"
  if (verdict._tag === "Bounced") return "other"
  return FULL.test(verdict.reply ?? "") ? "full" : "expired"
}
