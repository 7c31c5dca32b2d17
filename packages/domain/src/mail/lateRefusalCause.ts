import type { ReportedOutcome } from "./Bounces.ts"

/**
 * Why a message was refused after a server had accepted it: what receivers think of us, the message itself, a full mailbox, or a server that did
 * not take it in time.
 */
export const LATE_REFUSAL_CAUSES = ["policy", "content", "full", "expired", "other"] as const
export type LateRefusalCause = (typeof LATE_REFUSAL_CAUSES)[number]

/** Our message's content, or its length (RFC 3463). */
const CONTENT = /\b[45]\.(6\.\d|2\.3\b|3\.4\b)/
const FULL = /\b[45]\.2\.2\b|\bfull\b|quota|insufficient (system )?storage/i

/** A reply for now, or words of a server that tried for as long as it would; reports without a reason that is known are read as deferrals, too. */
const EXPIRED =
  /\b(4\d\d|4\.\d{1,3}\.\d{1,3}|5\.4\.7)\b(?!\.)|expire|tim(ed?|e) ?out|too long|retry|again|connect|unreachable|temporar|failing/i

/** Returns the cause of a refusal that a report tells of, and that is not a hard bounce. */
export const lateRefusalCause = (verdict: ReportedOutcome): LateRefusalCause => {
  if (verdict._tag === "Refused") return CONTENT.test(verdict.status) ? "content" : "policy"
  const { _tag, reply } = verdict
  if (_tag === "Bounced") return "other"
  if (reply === undefined) return "expired"
  return FULL.test(reply) ? "full" : EXPIRED.test(reply) ? "expired" : "other"
}
