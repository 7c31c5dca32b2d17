import { Effect } from "effect"
import { composeEvent } from "../events/Event.ts"
import { makeIdentifier } from "../Identifier.ts"
import { type Mail, Mailer, type MailOutcome } from "./Mailer.ts"
import type { MessageLease } from "./Message.ts"
import { MessageQueue, type MessageSettlement } from "./MessageQueue.ts"

/** Waits between attempts at a mailbox that does not accept yet, in seconds; about 24 hours in all, as RFC 5321 4.5.4 asks at least for minutes. */
const SOFT_RETRY = [60, 300, 900, 3600, 7200, 14_400, 28_800, 32_400] as const

/** How long a message waits when the fault is not its mailbox's, in seconds; such an attempt does not count against the mailbox. */
export const OUR_RETRY = { Refused: 3600, Unreachable: 60, Late: 0 } as const

/** Sends one leased message, unless that begins too late for its lease, and settles the outcome. */
export const sendMessage = Effect.fnUntraced(function* (
  lease: MessageLease,
  mail: Mail,
  options: {
    /** As the mailer takes it. */
    readonly beginBy: bigint
    /** Runs once the server has answered, before that is recorded. */
    readonly answered: Effect.Effect<void>
  },
) {
  const mailer = yield* Mailer
  const queue = yield* MessageQueue
  const outcome = yield* mailer.send(mail, options.beginBy)
  yield* options.answered
  const settlement = yield* decideSettlement(lease, outcome)
  const settled = yield* queue.settle(lease, settlement)
  if (!settled) {
    yield* Effect.logWarning("message lease lost before it was settled", { recipientId: lease.recipientId })
  }
  return { settled, outcome, settlement }
})

const decideSettlement = Effect.fnUntraced(function* (lease: MessageLease, outcome: MailOutcome) {
  const { attempt } = lease
  if (outcome._tag === "Refused" || outcome._tag === "Unreachable" || outcome._tag === "Late") {
    return {
      state: "retry",
      attempts: attempt - 1,
      delaySeconds: OUR_RETRY[outcome._tag],
      ...(outcome._tag === "Refused" && { refusedWith: outcome.status }),
    } satisfies MessageSettlement
  }
  if (outcome._tag === "Deferred" && attempt <= SOFT_RETRY.length) {
    return { state: "retry", attempts: attempt, delaySeconds: SOFT_RETRY[attempt - 1]! } satisfies MessageSettlement
  }
  const about = {
    id: yield* makeIdentifier("event"),
    organizationId: lease.organizationId,
    campaignId: lease.campaignId,
    programId: lease.programId,
    recipientId: lease.recipientId,
  }
  const data = {
    service_recipient_id: lease.recipientId,
    service_campaign_id: lease.campaignId,
    token: lease.token,
  }
  const event =
    outcome._tag === "Accepted"
      ? composeEvent("outreach.email_sent", about, data)
      : composeEvent("outreach.email_bounced", about, {
          ...data,
          bounce_reason: outcome._tag === "Bounced" ? outcome.reason : "other",
        })
  return { state: outcome._tag === "Accepted" ? "sent" : "bounced", event } satisfies MessageSettlement
})
