import type { ReportedOutcome } from "./Bounces.ts"

/**
 * Why a message was refused after a server had accepted it: what receivers think of us, the message itself, a full mailbox, or a server that did
 * not take it in time.
 */
export const LATE_REFUSAL_CAUSES = ["policy", "content", "full", "expired", "other"] as const
export type LateRefusalCause = (typeof LATE_REFUSAL_CAUSES)[number]

/** Our message's content, or its length (RFC 3463). */
const CONTENT = /\b[45]\.(6\.\d|2\.3\b|3\.4\b)/
const FULL =
  /\b[45]\.2\.2\b|\bfull\b|quota|storage|(disk|enough) space|pleine|llen[oa]\b|cheia|pien[oa]\b|\bvoll\b|переполн/i

/** Returns the cause of a refusal that a report tells of, and that is not a hard bounce. */
export const lateRefusalCause = (verdict: ReportedOutcome): LateRefusalCause => {
  if (verdict._tag === "Refused") return CONTENT.test(verdict.status) ? "content" : "policy"
  if (verdict._tag === "Bounced") return "other"
  return FULL.test(verdict.reply ?? "") ? "full" : "expired"
}
