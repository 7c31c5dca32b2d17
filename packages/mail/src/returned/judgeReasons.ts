import type { ReportedOutcome } from "@outreach/domain/mail/Bounces"
import { judgeSmtpReply, STATUS } from "../classifySmtpReply.ts"

/** How sure a reading is, the surest first; `Returned` says what each means. */
export const SURENESS = ["certain", "likely", "guess"] as const
export type Sureness = (typeof SURENESS)[number]

/** Why a message was not delivered to one recipient. */
export interface Reason {
  /** The enhanced status (RFC 3463) that a field of its own names. */
  readonly status?: string
  /** A server's reply, or words. */
  readonly text: string
}

export interface Judgement {
  readonly verdict: ReportedOutcome
  readonly status: string | null
  readonly sureness: Sureness
}

/**
 * Judges why a message was not delivered, from reasons in a form that is as sure as `formIs`; of several recipients, of whom an alias consists, by
 * the mildest. What is guessed is a bounce for other reasons, which marks no address and keeps from no domain.
 */
export const judgeReasons = (reasons: ReadonlyArray<Reason>, formIs: Sureness): Judgement => {
  const judged = reasons.map(judgeReason).toSorted((one, other) => severity(one.verdict) - severity(other.verdict))
  const { verdict, status } = judged[0]!
  const sureness = leastSure([formIs, ...judged.map((each) => each.sureness)])
  if (sureness !== "guess") return { verdict, status, sureness }
  const { reply } = verdict
  return { verdict: { _tag: "Bounced", reason: "other", ...(reply !== undefined && { reply }) }, status, sureness }
}

const leastSure = (all: ReadonlyArray<Sureness>): Sureness =>
  SURENESS[Math.max(...all.map((each) => SURENESS.indexOf(each)))]!

const severity = (verdict: ReportedOutcome): number =>
  verdict._tag === "Bounced" ? (verdict.reason === "other" ? 2 : 3) : verdict._tag === "Refused" ? 1 : 0

const judgeReason = ({ status: named, text: whole }: Reason): Judgement => {
  const reply = whole.slice(0, MAX_LENGTH).replace(/\s+/g, " ").trim()
  const found = /(?<![\w.:/-])([45]\d\d)(?=[ -])/.exec(reply)
  // Words before a reply are the reporting server's, and name its own hosts.
  const from = Math.min(found?.index ?? reply.length, STATUS.exec(reply)?.index ?? reply.length)
  const words = (found === null ? reply : reply.slice(from)).replace(NOT_SAID, "")
  // A status that says nothing leaves the word to the server's own.
  const text = named === undefined || named.endsWith(".0.0") ? words : `${named} ${words}`
  const status = STATUS.exec(text)?.[0] ?? named ?? null
  const isForNow = status?.startsWith("4.") || (found === null && GIVEN_UP.test(words))
  const code = isForNow ? 400 : Number(found?.[1] ?? 500)
  const at = /end of data|after data|reply to data|\[body\]/i.test(reply) ? "DATA" : "RCPT TO"
  const { verdict, by } = judgeSmtpReply({ code, text, at })
  const sureness = by === "status" ? "certain" : by === "nothing" ? "guess" : "likely"
  const quoted = reply === "" ? named : reply
  return { verdict: quoted === undefined ? verdict : { ...verdict, reply: quoted }, status, sureness }
}

/** What names nobody's fault: addresses, and where the message goes. */
const NOT_SAID = /[^\s<>"(),;:=]+@[^\s<>"(),;:]+|returned to (the )?sender/gi

/** Of a reason, so much is read. */
const MAX_LENGTH = 2000

/** How a server says that it has tried for as long as it would. */
const GIVEN_UP =
  /(message|delivery|queue)\W(has |time )?expired|too long|tim(ed?|e) ?out|time limit|retry time|not (be )?(connect|contact)|unable to (connect|contact)|able to establish|connection (refused|reset|lost|dropped)|no route to host|host is (down|unreachable)|try again|been failing|temporar/i
