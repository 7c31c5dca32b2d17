import type { ReportedOutcome } from "@outreach/domain/mail/Transport"
import { judgeSmtpReply, STATUS } from "../classifySmtpReply.ts"

/** How sure a reading is, from most to least sure (see `Returned`). */
export const SURENESS = ["certain", "likely", "guess"] as const
export type Sureness = (typeof SURENESS)[number]

/** Why a message was not delivered to one recipient. */
export interface Reason {
  /** The enhanced status (RFC 3463), if the report has a field for it. */
  readonly status?: string
  /** The server's reply, or a text for people. */
  readonly text: string
}

export interface Judgement {
  readonly verdict: ReportedOutcome
  readonly status: string | null
  readonly sureness: Sureness
}

/** The content of a message in the recognized form: after a `delay`, the server continues to try; a `message` is any other, such as an automatic reply. */
export type Reading = { readonly rule: string; readonly sureness: Sureness } & (
  | ({ readonly kind: "bounce" } & Judgement)
  | { readonly kind: "delay" | "delivered" | "message" }
  | { readonly kind: "complaint"; readonly feedbackType: string }
)

/**
 * Judges why a message was not delivered, from reasons in a form that is as sure as `formIs`. An alias can have several recipients: the mildest
 * verdict counts. A guess is a bounce with the reason `other`, which suppresses no address and pauses no domain.
 */
export const judgeReasons = (reasons: ReadonlyArray<Reason>, formIs: Sureness): Judgement => {
  const judged = reasons.map(judgeReason).toSorted((one, other) => severity(one.verdict) - severity(other.verdict))
  const { verdict, status } = judged[0]!
  const all = [formIs, ...judged.map((each) => each.sureness)]
  const sureness = SURENESS.findLast((each) => all.includes(each))!
  if (sureness !== "guess") return { verdict, status, sureness }
  const { reply } = verdict
  return { verdict: { _tag: "Bounced", reason: "other", ...(reply !== undefined && { reply }) }, status, sureness }
}

const severity = (verdict: ReportedOutcome): number =>
  verdict._tag === "Bounced" ? (verdict.reason === "other" ? 2 : 3) : verdict._tag === "Refused" ? 1 : 0

const judgeReason = ({ status: named, text: whole }: Reason): Judgement => {
  const reply = whole.slice(0, MAX_LENGTH).replace(/\s+/g, " ").trim()
  const found = /(?<![\w.:/-])([45]\d\d)(?=[ -])/.exec(reply)
  // Text before the reply comes from the reporting server and names its own hosts.
  const from = Math.min(found?.index ?? reply.length, STATUS.exec(reply)?.index ?? reply.length)
  const words = found === null ? reply : reply.slice(from)
  // An unspecific status (x.0.0) gives way to the status in the text.
  const text = named === undefined || named.endsWith(".0.0") ? words : `${named} ${words}`
  const status = STATUS.exec(text)?.[0] ?? named ?? null
  const code = Number(found?.[1] ?? 500)
  const at = STAGES.find(([, words]) => words.test(reply))?.[0]
  const { verdict, by } = judgeSmtpReply({ code, text, at })
  const sureness = by === "status" ? "certain" : by === "nothing" ? "guess" : "likely"
  const quoted = reply === "" ? named : reply
  return { verdict: quoted === undefined ? verdict : { ...verdict, reply: quoted }, status, sureness }
}

/** Characters of a reason that are read. */
const MAX_LENGTH = 2000

/** How mail servers name the command that was rejected. */
const STAGES = [
  [
    "MAIL FROM",
    /after (?:pipelined )?(?:initial conn|[eh]{2}lo|starttls|auth|mail from)|reply to (?:[eh]{2}lo|mail from|starttls)|but (?:my name|sender) was rejected|greeting failed|refused to talk to me/i,
  ],
  [
    "DATA",
    /end of data|after (?:pipelined )?(?:sending )?data|reply to data|\[body\]|failed on data command|after i sent the message/i,
  ],
  ["RCPT TO", /rcpt|does not like recipient/i],
] as const
