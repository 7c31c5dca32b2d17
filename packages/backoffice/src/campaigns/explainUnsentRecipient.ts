import { RecipientId } from "@outreach/domain/Identifier"
import { LATE_REFUSAL_CAUSES } from "@outreach/domain/mail/returned/Bounces"
import { MailFailure } from "@outreach/domain/mail/Transport"
import { type Finding, failed, ok, warning } from "@outreach/domain/operators/Finding"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import type { SuppressionReason, WithdrawalReason } from "@outreach/domain/suppressions/Suppression"
import { minuteOf, Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { Schema, Struct } from "effect"
import { explainMailFailure, explainUnsent, type SendingState } from "./explainUnsent.ts"

/** Progress of a campaign's e-mail to a recipient. */
export const RecipientState = Schema.Struct({
  ...Struct.pick(Recipient.fields, ["campaignId", "sentAt", "bouncedAt"]),
  recipientId: RecipientId,
  withdrawnAt: Schema.NullOr(Timestamp),
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

/** Explanations of suppressions. */
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
