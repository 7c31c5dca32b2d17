import { Array as Arr, Context, Effect, Layer } from "effect"
import { coalesce } from "../coalesce.ts"
import { bounceReasonOf, EventPublisher } from "../events/Event.ts"
import type { CampaignId, OrganizationId } from "../Identifier.ts"
import { isHardBounce } from "../suppressions/Suppression.ts"
import { type SuppressionRepository, suppressAddresses } from "../suppressions/Withdrawals.ts"
import { Transaction } from "../Transaction.ts"
import type { MessageLease } from "./Message.ts"
import {
  type DomainAnswer,
  type FinalSettlement,
  type LeaseKey,
  type MessageAttempt,
  MessageQueue,
  type MessageSettlement,
  type RetrySettlement,
  type SettledMessage,
} from "./MessageQueue.ts"

const MAX_BATCH_SIZE = 100
/** Number of retries while the database is unavailable: about as long as a lease. */
const MAX_TRIES = 200
/** Maximum wait for a campaign's next turn: later retries don't need a separate turn. */
const MAX_TURN_WAIT_SECONDS = 60

export class Settlements extends Context.Service<Settlements>()("domain/mail/Settlements", {
  make: Effect.gen(function* () {
    const transaction = yield* Transaction
    const context = yield* Effect.context<MessageQueue | Transaction | SuppressionRepository | EventPublisher>()
    // Transactions of an organization wait for its clock in turn, so settlements that arrive during one share the next stamp.
    const settle = yield* coalesce(MAX_BATCH_SIZE, (items: ReadonlyArray<SettledMessage>) =>
      settleMessages(items).pipe(Effect.provideContext(context)),
    )
    return {
      /**
       * Records outcome, attempt and next state in one transaction. Returns false if another worker has the lease, without a change.
       *
       * For attempts with the same number and outcome, such as during an outage of our mail server, stores the last and their number.
       * While the database is unavailable, the server's response is written later: otherwise the message would be sent again.
       */
      settle: (lease: MessageLease, settlement: MessageSettlement, attempt?: MessageAttempt): Effect.Effect<boolean> =>
        transaction.retryTransient(settle({ lease, settlement, attempt }), MAX_TRIES),
    }
  }),
}) {
  static readonly layer = Layer.effect(Settlements, Settlements.make)
}

/** Settles messages, those of each organization in one transaction. Returns for each whether its lease was still valid. */
const settleMessages = Effect.fnUntraced(function* (items: ReadonlyArray<SettledMessage>) {
  const { run } = yield* Transaction
  const { bringTurnsForward } = yield* MessageQueue
  const settled = new Set<string>()
  for (const group of Object.values(Arr.groupBy(items, ({ lease }) => lease.organizationId))) {
    const { organizationId } = group[0].lease
    for (const key of yield* run(settleBatch(organizationId, group))) settled.add(key)
    const delays = retryDelays(group)
    if (delays.size > 0) yield* bringTurnsForward(organizationId, delays)
  }
  return items.map(({ lease }) => settled.has(keyOf(lease)))
})

const keyOf = ({ recipientId, leaseToken }: LeaseKey): string => `${recipientId} ${leaseToken}`

/** Settles messages of one organization with one stamp. Returns the keys of leases that were still valid. */
const settleBatch = Effect.fnUntraced(function* (organizationId: OrganizationId, items: ReadonlyArray<SettledMessage>) {
  const queue = yield* MessageQueue
  const recipientIds = items.map(({ lease }) => lease.recipientId)
  const retries = items.filter(isRetry)
  const finals = items.filter(isFinal)
  const leases = [
    ...(retries.length === 0 ? [] : yield* queue.putBack(organizationId, recipientIds, retries)),
    ...(finals.length === 0 ? [] : yield* queue.takeOut(organizationId, recipientIds, finals)),
  ]
  const held = new Set(leases.map(keyOf))
  const settled = items.filter(({ lease }) => held.has(keyOf(lease)))
  const answers = settled.flatMap(answersTo)
  if (answers.length > 0) yield* queue.countAnswers(organizationId, answers)
  const left = settled.filter(isFinal)
  if (left.length > 0) {
    const at = yield* (yield* Transaction).commitTimestamp(organizationId)
    const bounced = left.filter(({ settlement }) => isHardBounce(bounceReasonOf(settlement.event)))
    const emails = bounced.map(({ lease }) => lease.email)
    yield* suppressAddresses(organizationId, emails, "bounced")
    const events = left.map(({ settlement }) => settlement.event)
    yield* (yield* EventPublisher).publish(events, at)
  }
  // Last, because a claim locks these rows, and nobody may wait for the clock with them.
  const uncounted = settled.flatMap((item) => (reachedNobody(item) ? (item.lease.ramp ?? []) : []))
  if (uncounted.length > 0) yield* queue.giveBackToRamps(organizationId, uncounted)
  return held
})

const isRetry = (item: SettledMessage): item is SettledMessage<RetrySettlement> => item.settlement.state === "retry"
const isFinal = (item: SettledMessage): item is SettledMessage<FinalSettlement> => item.settlement.state !== "retry"

/** Returns the reply of a recipient domain's server; empty without one. */
const answersTo = ({ lease, settlement, attempt }: SettledMessage): ReadonlyArray<DomainAnswer> => {
  const { campaignId, email } = lease
  const reply = attempt?.reply ?? null
  if (settlement.state !== "retry") {
    const isSent = settlement.state === "sent"
    return [
      { campaignId, email, answer: isSent ? "sent" : bounceReasonOf(settlement.event), reply: isSent ? null : reply },
    ]
  }
  const { refusedWith: status, delaySeconds: seconds } = settlement
  const pause = status === undefined || seconds === null ? undefined : { status, seconds }
  const answer = attempt?.outcome === "deferred" || attempt?.outcome === "refused" ? attempt.outcome : null
  return answer === null && pause === undefined ? [] : [{ campaignId, email, answer, reply, pause }]
}

/** Returns whether no recipient's server was contacted about the message, as far as known. A deferral is a reply. */
const reachedNobody = ({ lease, settlement }: SettledMessage): boolean =>
  settlement.state === "retry" &&
  !settlement.isUnknown &&
  settlement.attempts < lease.attempt &&
  settlement.refusedWith === undefined

/** Returns the seconds until each campaign's next returned message, if that is before its next regular turn. */
const retryDelays = (items: ReadonlyArray<SettledMessage>): ReadonlyMap<CampaignId, number> => {
  const delays = new Map<CampaignId, number>()
  for (const { lease, settlement } of items.filter(isRetry)) {
    const { delaySeconds } = settlement
    if (delaySeconds === null || delaySeconds >= MAX_TURN_WAIT_SECONDS) continue
    delays.set(lease.campaignId, Math.min(delaySeconds, delays.get(lease.campaignId) ?? Infinity))
  }
  return delays
}
