import {
  Campaign,
  CampaignFailure,
  CampaignProgress,
  countUnsent,
  DomainPause,
} from "@outreach/domain/campaigns/Campaign"
import { RecipientId } from "@outreach/domain/Identifier"
import { LATE_REFUSAL_CAUSES } from "@outreach/domain/mail/returned/Bounces"
import { MailFailure } from "@outreach/domain/mail/Transport"
import { type Finding, failed, ok, warning } from "@outreach/domain/operators/Finding"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import type { SuppressionReason, WithdrawalReason } from "@outreach/domain/suppressions/Suppression"
import { fromUnixMillis, minuteOf, Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { Schema, Struct } from "effect"
import { formatCount, formatCounted } from "../format.ts"

/** Progress of a campaign, and everything that can block its e-mails. */
export const SendingState = Schema.Struct({
  ...Struct.pick(Campaign.fields, ["id", "name", "status", "perMinute", "windowStart", "windowEnd"]),
  ...Struct.pick(Campaign.fields, ["stoppedAt", "stoppedBy", "stopReason"]),
  progress: CampaignProgress,
  /** Number of living workers. */
  workers: Schema.Int,
  /** Reason why the database may not be used for sending (`restore_fault`); null if it may. */
  restoreFault: Schema.NullOr(Schema.String),
  isQuotaReached: Schema.Boolean,
  /** Whether the sender has reached its ramp's limit for today. */
  isRampReached: Schema.Boolean,
  /** Due time of the first message; null if none waits, or all are quarantined. */
  dueAt: Schema.NullOr(Timestamp),
  /** When its rate, or the total rate, allows the next message; null if now. */
  rateOpensAt: Schema.NullOr(Timestamp),
  /** Most frequent reasons why messages weren't accepted in their last attempt, if caused by us or the mail server. */
  failures: Schema.Array(CampaignFailure),
  /** Paused domains, by end of the pause. */
  pauses: Schema.Array(DomainPause),
})
export type SendingState = typeof SendingState.Type

/** A message that is due for longer than this waits for a worker. */
const LATE_MS = 60_000
const DAY_MS = 86_400_000

const FAILURES: Readonly<Record<MailFailure["class"], string>> = {
  login: "The mail server rejects our login",
  relay_denied: "The mail server doesn't relay for us",
  rejected: "The mail server rejects us",
  protocol: "The mail server violates SMTP",
  tls: "TLS with the mail server fails, usually because of its certificate",
  dns: "The mail server's name doesn't resolve",
  refused: "The mail server refuses connections",
  reset: "The mail server closes the connection",
  timeout: "The mail server doesn't respond in time",
  slow: "The mail server is too slow for some messages",
  stopped: "The workers were stopped while they sent",
  sender: "A key of the sender is unreadable",
  template: "The template doesn't render for some recipients",
  unknown: "The mail server cannot be reached",
}

/** Explains why a mail server didn't accept a message, as the start of a sentence. */
const explainMailFailure = ({ class: name, code }: MailFailure): string => `${FAILURES[name]} (${code})`

/** Returns the first reason why a campaign sends nothing at `now` (Unix milliseconds); null if it does. */
export const explainUnsent = (state: SendingState, now: number): Finding | null => {
  const { status, progress } = state
  const left = countUnsent(progress)
  switch (status) {
    case "draft":
      return ok("Draft. Schedule it to send e-mails.")
    case "paused":
      return warning(`${stopOf(state)} E-mails are paused until it is resumed.`, "Resume it once the reason is gone.")
    case "cancelled":
      return ok(`${stopOf(state)} ${formatCounted(left, "recipient")} won't get an e-mail.`)
    case "completed":
      return ok(
        left === 0
          ? "Completed: sent to all possible recipients."
          : `Completed: its window ended at ${minuteOf(state.windowEnd)}, and ${formatCounted(left, "recipient")} got no e-mail.`,
      )
    default:
      return progress.sentInLastMinute > 0 ? null : explainWaiting(state, left, now)
  }
}

const stopOf = ({ status, stoppedAt, stoppedBy, stopReason }: SendingState): string => {
  const who =
    stoppedBy === null ? `It is ${status}` : `${stoppedBy[0]?.toUpperCase()}${stoppedBy.slice(1)} ${status} it`
  return `${who}${stoppedAt === null ? "" : ` at ${minuteOf(stoppedAt)}`}${stopReason === null ? "." : `: ${stopReason.replace(/\.$/, "")}.`}`
}

const explainWaiting = (state: SendingState, left: number, now: number): Finding | null => {
  const { status, progress, perMinute, windowStart, windowEnd, dueAt, rateOpensAt, failures, pauses } = state
  if (state.restoreFault !== null) {
    return failed(
      state.restoreFault === "restoring"
        ? "The database was restored. Sending is paused until the restore is finished."
        : "The database moved to another server, so sending is paused.",
      "Follow the guide for restores.",
      ["restores", "finish"],
    )
  }
  if (state.workers === 0)
    return failed("No worker is running, so e-mails aren't published or sent.", "Start a worker.")
  if (state.isQuotaReached) {
    return warning(
      `Its program has reached its target of completers: ${WHEN_REACHED.completer_qualified}.`,
      "Raise the program's target, or leave it.",
    )
  }
  if (toUnixMillis(windowEnd) <= now) return ok(`Its window ended at ${minuteOf(windowEnd)}.`)
  if (toUnixMillis(windowStart) > now) return ok(`Its window starts at ${minuteOf(windowStart)}.`)
  if (status === "scheduled" || status === "publishing") {
    return ok(
      `Its recipients are being published: ${formatCount(progress.published)} of ${formatCount(progress.recipients)} are.`,
    )
  }
  if (left === 0) return ok("Sent to all possible recipients.")
  if (state.isRampReached) {
    return warning(
      `Its sender has sent as many e-mails today as its ramp allows. It resumes at ${minuteOf(fromUnixMillis(now - (now % DAY_MS) + DAY_MS))}.`,
      "Wait, or give the sender another ramp.",
    )
  }
  const [failure] = failures
  if (failure !== undefined) {
    return failed(
      `${explainMailFailure(failure)}. ${formatCounted(failure.messages, "message")} are queued and will be retried automatically.`,
      "Fix the mail server or SMTP_URL. The deployment's checks test both.",
      ["doctor"],
    )
  }
  const [pause, ...others] = pauses
  const [more, are] = others.length > 0 ? [` and ${formatCounted(others.length, "other domain")}`, "are"] : ["", "is"]
  const waits = [
    ...(pause ? [`${pause.domain}${more} rejected our e-mails and ${are} paused until ${minuteOf(pause.until)}.`] : []),
    ...(progress.deferred > 0
      ? [`${formatCounted(progress.deferred, "mailbox", "mailboxes")} deferred our e-mails.`]
      : []),
  ]
  if (dueAt === null || toUnixMillis(dueAt) > now) {
    const next = dueAt === null ? [] : [`The next e-mail is due at ${minuteOf(dueAt)}.`]
    return ok([...waits, ...next].join(" ") || "No message is pending.")
  }
  if (rateOpensAt !== null) {
    return ok(
      perMinute === null
        ? `The total rate limit allows the next e-mail at ${minuteOf(rateOpensAt)}.`
        : `Its rate is ${formatCount(perMinute)} a minute: the next e-mail is sent at ${minuteOf(rateOpensAt)}.`,
    )
  }
  return now - toUnixMillis(dueAt) > LATE_MS
    ? failed(
        `E-mails have been due since ${minuteOf(dueAt)}, but no worker sends them.`,
        "Check that the workers have SMTP_URL, and read their logs.",
      )
    : null
}

/** Progress of a campaign's e-mail to a recipient. */
export const RecipientState = Schema.Struct({
  ...Struct.pick(Recipient.fields, ["campaignId", "sentAt", "bouncedAt"]),
  recipientId: RecipientId,
  withdrawalReason: Schema.NullOr(Schema.String),
  /** Cause of its rejection after a server had accepted it. */
  refusedLater: Schema.NullOr(Schema.Literals(LATE_REFUSAL_CAUSES)),
  /** Waiting message: due time, number of deferrals, and start of the quarantine. */
  dueAt: Schema.NullOr(Timestamp),
  attempts: Schema.NullOr(Schema.Int),
  quarantinedAt: Schema.NullOr(Timestamp),
  /** Reason why it wasn't accepted in its last attempt, if caused by us or the mail server. */
  failure: Schema.NullOr(MailFailure),
  /** End of the pause of its domain, which rejected us. */
  pausedUntil: Schema.NullOr(Timestamp),
  /** A mail server's reply to the last attempt, from `cleanSmtpReply`. */
  lastReply: Schema.NullOr(Schema.String),
})
export type RecipientState = typeof RecipientState.Type

export const SUPPRESSED_BECAUSE: Readonly<Record<SuppressionReason, string>> = {
  account_created: "they have an account already",
  unsubscribed: "they unsubscribed",
  operator: "an operator suppressed them",
  bounced: "their address bounced",
  complained: "they reported an e-mail as spam",
}

const WITHDRAWN_BECAUSE: Readonly<Record<WithdrawalReason, string>> = {
  suppressed: "they were suppressed before it was sent",
  learner_qualified: "they became a learner before it was sent",
  completer_qualified: "they became a completer before it was sent",
  quota_reached: "the program had reached its target before it was sent",
}

/** Returns whether a campaign has sent to a recipient at `now` (Unix milliseconds), or the reason why not. */
export const explainUnsentRecipient = (state: RecipientState, campaign: SendingState, now: number): Finding => {
  const { sentAt, bouncedAt, withdrawalReason, refusedLater, quarantinedAt, dueAt, attempts, failure, pausedUntil } =
    state
  const reply = state.lastReply === null ? "." : `: ${state.lastReply}`
  if (bouncedAt !== null) return failed(`The e-mail bounced at ${minuteOf(bouncedAt)}${reply}`, "Correct the address.")
  if (sentAt !== null) {
    return refusedLater === null
      ? ok(`The e-mail was sent at ${minuteOf(sentAt)}, and their mail server accepted it.`)
      : failed(
          `The e-mail was sent at ${minuteOf(sentAt)}, and rejected later (${refusedLater})${reply}`,
          "Check which e-mails the domain rejects.",
        )
  }
  if (withdrawalReason !== null) {
    return warning(
      `It was not sent: ${WITHDRAWN_BECAUSE[withdrawalReason as WithdrawalReason]}.`,
      "No action is needed, unless this is wrong.",
    )
  }
  if (quarantinedAt !== null) {
    return failed(
      `Quarantined since ${minuteOf(quarantinedAt)}: ${failure === null ? "its delivery is unknown" : explainMailFailure(failure)}.`,
      "See the quarantined messages on the campaign's page.",
    )
  }
  const cause = explainUnsent(campaign, now)
  // Reasons for the whole campaign come before those of a single message.
  if (campaign.status !== "sending" && cause !== null) return cause
  if (failure !== null)
    return failed(`${explainMailFailure(failure)}. It will be retried automatically.`, "Fix the mail server.")
  if (pausedUntil !== null) {
    return warning(
      `Their domain rejected our e-mails and is paused until ${minuteOf(pausedUntil)}${reply}`,
      "Sending to it resumes automatically.",
    )
  }
  if (attempts !== null && attempts > 0 && dueAt !== null && toUnixMillis(dueAt) > now) {
    return ok(`Their mailbox deferred it. It is retried at ${minuteOf(dueAt)}${reply}`)
  }
  return cause ?? ok("It is queued with its campaign.")
}
