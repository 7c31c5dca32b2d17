import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { composeBounced, composeSent } from "../events/Event.ts"
import type { MessageLease } from "./Message.ts"
import type { AttemptOutcome, MessageAttempt, MessageSettlement } from "./MessageQueue.ts"
import { Settlements } from "./Settlements.ts"
import { type ComposedMail, type MailFailure, type MailOutcome, Transport } from "./Transport.ts"

/** Waits between attempts at a deferring mailbox, in seconds; about 24 hours in total (RFC 5321, 4.5.4). */
const SOFT_RETRY = [60, 300, 900, 3600, 7200, 14_400, 28_800, 32_400] as const

/**
 * Returns the wait in seconds after the n-th deferral by the mailbox; undefined after the last.
 *
 * Greylisting waits as long as requested: some servers restart or extend the wait after an earlier attempt.
 */
export const softRetryDelay = (attempt: number, greylistedSeconds?: number): number | undefined => {
  const usual = SOFT_RETRY[attempt - 1]
  if (usual === undefined || greylistedSeconds === undefined) return usual
  // One second more, because the server starts counting slightly later.
  return attempt === 1 ? greylistedSeconds + 1 : Math.max(usual, greylistedSeconds + 1)
}

/** Waits in seconds if the fault isn't the mailbox's; such attempts don't count against it. */
export const OUR_RETRY = { Refused: 3600, Unreachable: 60, Late: 0 } as const
/** Wait of a single message that was too slow or couldn't be signed: other ones are sent meanwhile. */
const SLOW_RETRY = 900

/** Waits after unknown outcomes, in seconds; after the last, the message is quarantined. */
const UNKNOWN_RETRY = [3600, 7200, 14_400] as const

/**
 * Sends one leased message in its turn, and settles the outcome. Without a turn, it waits for its next attempt. A message that can't be composed
 * is `Unreachable`; if it doesn't render, it is quarantined.
 */
export const sendMessage = Effect.fnUntraced(function* (
  lease: MessageLease,
  compose: Effect.Effect<ComposedMail, MailFailure>,
  options: {
    /** Ends the turn when the server has responded, before that is recorded; undefined without a turn. */
    readonly release: Effect.Effect<void> | undefined
    /** Returns whether the lease still belongs to the worker. */
    readonly isHeld: () => boolean
  },
) {
  const { release, isHeld } = options
  const transport = yield* Transport
  const settlements = yield* Settlements
  const settle = Effect.fnUntraced(function* (outcome: MailOutcome) {
    const settlement = yield* decideSettlement(lease, outcome)
    const settled = yield* settlements.settle(lease, settlement, attemptOf(outcome))
    if (!settled) {
      yield* Effect.logWarning("message lease lost before it was settled", { recipientId: lease.recipientId })
    }
    return { settled, outcome, settlement }
  })
  if (release === undefined) return yield* settle({ _tag: "Late" })
  let mayBeDelivered = false
  const outcome = yield* compose.pipe(
    Effect.flatMap((mail) =>
      transport.deliver(mail, () => {
        mayBeDelivered = isHeld()
        return mayBeDelivered
      }),
    ),
    Effect.catch((failure) => Effect.succeed<MailOutcome>({ _tag: "Unreachable", failure })),
    Effect.onInterrupt(() => (mayBeDelivered ? settle(STOPPED) : Effect.void)),
  )
  yield* release
  return yield* settle(outcome)
})

/** Outcome of a message if its worker stopped before the server responded. */
const STOPPED: MailOutcome = { _tag: "Unknown", failure: { class: "stopped", code: "STOPPED" } }

/** Returns whether a message was composed, so that the mail server was contacted about it. */
export const isTried = (outcome: MailOutcome): boolean =>
  outcome._tag !== "Unreachable" || !["sender", "template"].includes(outcome.failure.class)

const attemptOf = (outcome: MailOutcome): MessageAttempt | undefined => {
  if (outcome._tag === "Late" || !isTried(outcome)) return undefined
  const reply = "failure" in outcome ? `${outcome.failure.class}: ${outcome.failure.code}` : (outcome.reply ?? null)
  return { outcome: outcome._tag.toLowerCase() as AttemptOutcome, reply }
}

/** Keeps a message in the queue; the attempt doesn't count against the mailbox. */
const retryUncounted = ({ attempt }: MessageLease, delaySeconds: number | null) =>
  ({ state: "retry", attempts: attempt - 1, delaySeconds }) as const

const decideSettlement = Effect.fnUntraced(function* (
  lease: MessageLease,
  outcome: MailOutcome,
): Effect.fn.Return<MessageSettlement, never, SecureRandom.SecureRandom> {
  const { attempt } = lease
  switch (outcome._tag) {
    case "Accepted":
      return { state: "sent", event: yield* composeSent(lease) }
    case "Unknown": {
      const delaySeconds = UNKNOWN_RETRY[lease.unknownOutcomes] ?? null
      return { ...retryUncounted(lease, delaySeconds), isUnknown: true, failure: outcome.failure }
    }
    case "Unreachable": {
      const delays: Partial<Record<MailFailure["class"], number | null>> = {
        slow: SLOW_RETRY,
        sender: SLOW_RETRY,
        template: null,
      }
      const { [outcome.failure.class]: delaySeconds = OUR_RETRY.Unreachable } = delays
      return { ...retryUncounted(lease, delaySeconds), failure: outcome.failure }
    }
    case "Refused":
      return { ...retryUncounted(lease, OUR_RETRY.Refused), refusedWith: outcome.status }
    case "Late":
      return retryUncounted(lease, OUR_RETRY.Late)
    case "Deferred": {
      const delaySeconds = softRetryDelay(attempt, outcome.greylistedSeconds)
      if (delaySeconds !== undefined) return { state: "retry", attempts: attempt, delaySeconds }
      return { state: "bounced", event: yield* composeBounced(lease, "other") }
    }
    case "Bounced":
      return { state: "bounced", event: yield* composeBounced(lease, outcome.reason) }
  }
})
