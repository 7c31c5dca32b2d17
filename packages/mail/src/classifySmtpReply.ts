import type { MailOutcome } from "@outreach/domain/mail/Transport"
import { BY_CODE, BY_STATUS, BY_WEAK_STATUS, MAILBOX_RULES, MILD_RULES, type Rule, type Verdict } from "./replyRules.ts"

/** A mail server's rejection of one message to one recipient. */
export interface SmtpRejection {
  /** The reply code, such as 550. For a delivery report without a code, 500 or 400. */
  readonly code: number
  /** All lines of the reply, with or without the code. */
  readonly text: string
  /** The rejected command. MAIL FROM includes everything before RCPT TO; undefined for a delivery report without it. */
  readonly at: "MAIL FROM" | "RCPT TO" | "DATA" | undefined
}

type Classified = Extract<MailOutcome, { _tag: "Bounced" | "Deferred" | "Refused" }>

/** Classifies a rejection by the mildest reading of its status, words and code, because a hard bounce harms the recipient. */
export const classifySmtpReply = (rejection: SmtpRejection): Classified => judgeSmtpReply(rejection).verdict

type Basis = "status" | "words" | "code" | "nothing"

/** Classifies a rejection. Also returns the basis of the decision: `nothing` if neither words nor numbers are known. */
export const judgeSmtpReply = (rejection: SmtpRejection): { readonly verdict: Classified; readonly by: Basis } => {
  const statuses = Array.from(rejection.text.slice(0, MAX_LENGTH).matchAll(STATUSES), ([status]) => status)
  const [verdict, by] = judge(rejection, statuses)
  // Only the numbers, because the text can contain the address.
  const named = verdict._tag === "Refused" ? { status: [rejection.code, statuses[0]].join(" ").trimEnd() } : {}
  return { verdict: { ...verdict, ...named } as Classified, by }
}

/** Matches an enhanced status code (RFC 3463) in a reply. */
export const STATUS = /(?<=^|[\s(#'-])[45]\.\d{1,3}\.\d{1,3}\b(?!\.\d)/
const STATUSES = new RegExp(STATUS, "g")

const MAX_LENGTH = 2000

const judge = ({ code, text, at }: SmtpRejection, statuses: ReadonlyArray<string>): readonly [Verdict, Basis] => {
  const words = readWords(text)
  if (code < 500 || statuses.some((status) => status.startsWith("4."))) {
    const by = statuses.length === 0 ? "code" : "status"
    // The server throttles us because of our mail, so trying other mailboxes would make it worse. Greylisting doesn't use these words.
    if (statuses.some((status) => status.startsWith("4.7.")) && OURS_FOR_NOW.test(text))
      return [{ _tag: "Refused" }, by]
    const greylistedSeconds = greylistingWait(text)
    return [{ _tag: "Deferred", ...(greylistedSeconds !== undefined && { greylistedSeconds }) }, by]
  }
  const known = statuses.flatMap((status) => BY_STATUS[status] ?? BY_STATUS[subjectOf(status)] ?? [])
  const mild = known.find(({ _tag }) => _tag !== "Bounced")
  if (mild !== undefined) return [mild, "status"]
  // Before RCPT TO, a server rejects us and hasn't seen the address.
  if (at === "MAIL FROM") return [{ _tag: "Refused" }, "code"]
  const milder = verdictOf(MILD_RULES, words)
  if (milder !== undefined) return [milder, "words"]
  if (known[0] !== undefined) return [known[0], "status"]
  const said = verdictOf(MAILBOX_RULES, words)
  if (said !== undefined) return [said, "words"]
  // A server that accepted the recipient, and then rejects the message without mentioning the mailbox, rejects the message.
  if (at === "DATA") return [{ _tag: "Refused" }, "code"]
  const [status] = statuses
  const weak = status && BY_WEAK_STATUS[subjectOf(status)]
  if (weak) return [weak, "status"]
  const usual = BY_CODE[code]
  // Unknown words can mean anything, and codes about anything but the address don't mean the mailbox.
  const isBare = !/\p{L}/u.test(words.replaceAll("address", "")) && (status === undefined || /^5\.[01]\./.test(status))
  if (usual?._tag === "Deferred" || (usual && isBare && at === "RCPT TO")) return [usual, "code"]
  return [{ _tag: "Bounced", reason: "other" }, "nothing"]
}

const subjectOf = (status: string): string => status.slice(0, status.lastIndexOf("."))

const verdictOf = (rules: ReadonlyArray<Rule>, words: string): Verdict | undefined =>
  rules.find(([pattern]) => pattern.test(words))?.[1]

/** Returns the words of a reply without accents. Addresses and hosts are replaced, because their names can contain any word. */
const readWords = (text: string): string =>
  text
    .slice(0, MAX_LENGTH)
    .replace(/[^\s<>"(),;:=]+@[^\s<>"(),;:]+/g, "address")
    .replace(/(?:https?:\/\/)?\b(?:[a-z0-9-]+\.)+[a-z]{2,6}(?![\w-]|\.\w)(?:[/?][^\s<>"]*)?/g, (host) =>
      BLOCKLIST.test(host) ? "blocklist" : "",
    )
    .replace(/returned to (?:the )?sender/gi, "")
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .replace(/[\s*_]+/g, " ")

/** Publishers of blocklists. */
const BLOCKLIST =
  /spamhaus|spamcop|sorbs|barracudacentral|senderscore|cloudmark|abuseat|uceprotect|mailspike|dnsbl|\brbl/

const OURS_FOR_NOW = /unsolicited|reputation|complaints|unusual|suspicious|block|spam|messages from|your (ip|domain)/i

/** Words of greylisting. The filters of Plesk and Rspamd only return 4.7.1 and a request to try later. */
const GREYLISTING =
  /gr[ae]y-?list|4\.7\.1 (service unavailable\W+)?(please )?(try|come back) (again )?later|internal resource temporarily unavailable|not yet authorized to deliver/i

const NAMED_WAIT =
  /\b(?:in|for|wait|after)\s+(?:(?:(\d{1,2}):)?(\d{1,2}):(\d{2})\b|(\d{1,5})\s*(s|sec|secs|seconds?|m|mins?|minutes?|h|hours?)\b)/i

const UNIT_SECONDS = { s: 1, m: 60, h: 3600 } as const

/** Delay of greylisting without a stated one: the default of postgrey, and the maximum of most other servers. */
const USUAL_SECONDS = 300

/** A longer delay in a reply isn't the delay of greylisting. */
const MAX_SECONDS = 14_400

/** Returns the delay in seconds that a greylisting reply requires, at least one; undefined if it isn't greylisting. */
const greylistingWait = (text: string): number | undefined => {
  if (!GREYLISTING.test(text)) return undefined
  const named = NAMED_WAIT.exec(text)
  if (named === null) return USUAL_SECONDS
  const [, hours, minutes, seconds, count, unit] = named
  const wait =
    count === undefined
      ? Number(hours ?? 0) * 3600 + Number(minutes) * 60 + Number(seconds)
      : Number(count) * UNIT_SECONDS[unit!.toLowerCase().charAt(0) as keyof typeof UNIT_SECONDS]
  return wait > MAX_SECONDS ? USUAL_SECONDS : Math.max(1, wait)
}
