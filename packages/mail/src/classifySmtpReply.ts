import type { MailOutcome } from "@outreach/domain/mail/Mailer"

/** A mail server's rejection of one message to one recipient. */
export interface SmtpRejection {
  /** The reply code, such as 550; of a delivery report that names none, 500 or 400. */
  readonly code: number
  /** All lines of the reply, from its code on or without it. */
  readonly text: string
  /** The command that was refused: to `DATA`, the recipient was already taken, and what remains is the message itself. */
  readonly at: "RCPT TO" | "DATA"
}

type Verdict = Extract<MailOutcome, { _tag: "Bounced" | "Deferred" }> | { readonly _tag: "Refused" }

const bounced = (reason: Extract<MailOutcome, { _tag: "Bounced" }>["reason"]): Verdict => ({ _tag: "Bounced", reason })
const deferred = { _tag: "Deferred" } as const satisfies Verdict
const refused: Verdict = { _tag: "Refused" }

// Enhanced status codes (RFC 3463, RFC 5248, RFC 7372, RFC 7505), whole or their first two parts. Those that servers use for this and that are left to the text.
const BY_STATUS: Readonly<Record<string, Verdict>> = {
  "5.1.1": bounced("mailbox_not_found"),
  "5.1.2": bounced("domain_not_found"),
  "5.1.3": bounced("address_invalid"),
  "5.1.6": bounced("mailbox_not_found"), // moved, and nobody says where to
  "5.1.7": refused, // our sender's address
  "5.1.8": refused,
  "5.2.1": bounced("mailbox_disabled"),
  "5.2.2": deferred, // full
  "5.2.3": refused, // our message's length
  "5.3.4": refused,
  "5.4.4": bounced("domain_not_found"),
  "5.4.310": bounced("domain_not_found"), // Exchange Online
  "5.4.7": deferred, // kept for too long
  "5.5.3": deferred, // too many recipients
  "5.6": refused, // our message's content
  "5.7": refused,
}

// What texts say where no status decides; the first that matches. Ours comes first: an address must not be marked for what is said of us.
const BY_TEXT: ReadonlyArray<readonly [RegExp, Verdict]> = [
  [/receiving mail (at a rate|too quickly)|rate that prevents|too many (messages|connections|recipients)/i, deferred],
  [
    /\b(spam\w*|unsolicited|bulk mail|black-?list\w*|block-?list\w*|dns?bl|rbl|spamhaus|reputation|phish\w*|virus)\b/i,
    refused,
  ],
  [
    /polic(y|ies)|\b(spf|dkim|dmarc|ptr|reverse dns|rdns|helo|authenticat\w+)\b|not in my list of allowed rcpthosts/i,
    refused,
  ],
  [
    /relay|access denied by|your (ip|server|host)|client host|sender|message (was )?(rejected|refused|blocked|content)|content|duplicate header|invalid ip\b|\bblocked\b/i,
    refused,
  ],
  [
    /quota|(box|system) (is )?full|full mailbox|exceed\w* (its |the )?storage|insufficient (system )?storage|out of space/i,
    deferred,
  ],
  [
    /\b(disabled|suspend|inactive|deactivat|discontinued|expired|closed|locked|no longer (available|accept|active|in use))/i,
    bounced("mailbox_disabled"),
  ],
  [
    /null mx|(domain|host)( name)? (is )?(not found|unknown|does not exist|doesn't exist)|no such (domain|host)|unknown (host|domain)|does not accept (e-?)?mail|no mail (is )?accepted|unrouteable mail domain|no mx|domain is not reachable|point to non-?existent hosts|address lookups failed permanently|no smtp service/i,
    bounced("domain_not_found"),
  ],
  [/syntax|malformed|bad address|invalid address format/i, bounced("address_invalid")],
  [
    /unknown|no such|not recognized|not listed in (the )?(domino|public|directory|address)|may not exist|no se encuentra en el directorio|non répertorié dans l'annuaire|not (be )?found|recipientnotfound|not known|(does|do)(n't| not) (exist|have)|no (mailbox|user|account)|not a (valid|known)|invalid (recipient|mailbox|user|address)|not our customer|unavailable|unrouteable|recipient address rejected|no longer on server|user is not|undeliverable address/i,
    bounced("mailbox_not_found"),
  ],
]

// Reply codes (RFC 5321, RFC 7504), where the text says nothing either.
const BY_CODE: Readonly<Record<number, Verdict>> = {
  501: bounced("address_invalid"),
  550: bounced("mailbox_not_found"),
  552: deferred, // full
  553: bounced("address_invalid"),
  556: bounced("domain_not_found"),
}

type Classified = Extract<MailOutcome, { _tag: "Bounced" | "Deferred" | "Refused" }>

/** Classifies a rejection by its enhanced status code, then by its text, then by its reply code. */
export const classifySmtpReply = (rejection: SmtpRejection): Classified => judgeSmtpReply(rejection).verdict

/** The same, with what decided: `nothing` where neither the words nor the numbers are known. */
export const judgeSmtpReply = (
  rejection: SmtpRejection,
): { readonly verdict: Classified; readonly by: "status" | "words" | "code" | "nothing" } => {
  const status = STATUS.exec(rejection.text)?.[0]
  const [verdict, by] = judge(rejection, status)
  // The numbers alone: a text may name the address.
  const named = verdict._tag === "Refused" ? { status: [rejection.code, status].join(" ").trimEnd() } : {}
  return { verdict: { ...verdict, ...named } as Classified, by }
}

/** Finds an enhanced status code (RFC 3463) in a reply. */
export const STATUS = /(?<=^|[\s(#-])[45]\.\d{1,3}\.\d{1,3}\b(?!\.\d)/

const judge = (
  { code, text, at }: SmtpRejection,
  status: string | undefined,
): readonly [Verdict, "status" | "words" | "code" | "nothing"] => {
  // Throttled for what we send, in words that no greylisting uses: to try the next mailbox there is what it asks us not to do.
  if (code < 500) {
    const by = status === undefined ? "code" : "status"
    if (status?.startsWith("4.7.") && OURS_FOR_NOW.test(text)) return [refused, by]
    const greylistedSeconds = greylistingWait(text)
    return [greylistedSeconds === undefined ? deferred : { ...deferred, greylistedSeconds }, by]
  }
  const known = status && (BY_STATUS[status] ?? BY_STATUS[status.slice(0, status.lastIndexOf("."))])
  if (known) return [known, "status"]
  for (const [words, verdict] of BY_TEXT) if (words.test(text)) return [verdict, "words"]
  // Who took the recipient and then refuses the message without a word of the mailbox means the message.
  if (at === "DATA") return [refused, "code"]
  const usual = BY_CODE[code]
  return usual === undefined ? [bounced("other"), "nothing"] : [usual, "code"]
}

const OURS_FOR_NOW = /unsolicited|reputation|complaints|unusual|suspicious|block|spam|messages from|your (ip|domain)/i

/** What greylisting calls itself; 4.7.1 with nothing but the request to try later is how the filters of Plesk and Rspamd say it. */
const GREYLISTING =
  /gr[ae]y-?list|4\.7\.1 (service unavailable\W+)?(please )?(try|come back) (again )?later|internal resource temporarily unavailable|not yet authorized to deliver/i

const NAMED_WAIT =
  /\b(?:in|for|wait|after)\s+(?:(?:(\d{1,2}):)?(\d{1,2}):(\d{2})\b|(\d{1,5})\s*(s|sec|secs|seconds?|m|mins?|minutes?|h|hours?)\b)/i

const UNIT_SECONDS = { s: 1, m: 60, h: 3600 } as const

/** How long greylisting that names no wait keeps a sender waiting: the default of postgrey, and the most that most others ask. */
const USUAL_SECONDS = 300

/** A reply that names more than four hours means something else. */
const MAX_SECONDS = 14_400

/** Returns how many seconds a reply for now asks to wait because it is greylisting, at least one; undefined if it is not. */
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
