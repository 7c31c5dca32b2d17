import { BOUNCE_REASONS, type BounceReason } from "@outreach/contract/names"
import { Array as Arr, Context, Effect, Layer } from "effect"
import { coalesce } from "../coalesce.ts"
import type { EventDraft } from "../events/Event.ts"
import type { CampaignId, OrganizationId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"
import type { MessageLease } from "./Message.ts"
import {
  type DomainAnswer,
  type DomainRejection,
  type FinalMessage,
  type KeptMessage,
  type LeaseKey,
  type MessageAttempt,
  MessageQueue,
  type MessageSettlement,
} from "./MessageQueue.ts"

const MAX_BATCH_SIZE = 100
/** Number of retries while the database is unavailable: about as long as a lease. */
const MAX_TRIES = 200
/** Maximum wait for a campaign's next turn: later retries don't need a separate turn. */
const MAX_TURN_WAIT_SECONDS = 60

interface Settling {
  readonly lease: MessageLease
  readonly settlement: MessageSettlement
  readonly attempt: MessageAttempt | undefined
}

export class Settlements extends Context.Service<Settlements>()("domain/mail/Settlements", {
  make: Effect.gen(function* () {
    const transaction = yield* Transaction
    const context = yield* Effect.context<MessageQueue | Transaction>()
    // Transactions of an organization wait for its clock in turn, so settlements that arrive during one share the next stamp.
    const settle = yield* coalesce(MAX_BATCH_SIZE, (items: ReadonlyArray<Settling>) =>
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
const settleMessages = Effect.fnUntraced(function* (items: ReadonlyArray<Settling>) {
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
const settleBatch = Effect.fnUntraced(function* (organizationId: OrganizationId, items: ReadonlyArray<Settling>) {
  const queue = yield* MessageQueue
  const recipientIds = items.map(({ lease }) => lease.recipientId)
  const kept = items.flatMap(keptOf)
  const finals = items.flatMap(finalOf)
  const leases = [
    ...(kept.length === 0 ? [] : yield* queue.putBack(organizationId, recipientIds, kept)),
    ...(finals.length === 0 ? [] : yield* queue.takeOut(organizationId, recipientIds, finals)),
  ]
  const held = new Set(leases.map(keyOf))
  const isHeld = ({ lease }: { readonly lease: MessageLease }) => held.has(keyOf(lease))
  const settled = items.filter(isHeld)
  const finalNow = finals.filter(isHeld)
  const rejections = settled.flatMap(rejectionOf)
  if (rejections.length > 0) yield* queue.pauseDomains(organizationId, rejections)
  if (finalNow.length > 0) {
    const at = yield* (yield* Transaction).commitTimestamp(organizationId)
    yield* queue.stampRecipients(organizationId, finalNow, finalNow.flatMap(answersTo), at)
  }
  // Last, because a transaction that has locked the clock may wait for these rows, so their owners must not wait for the clock.
  const answers = settled.filter((item) => item.settlement.state === "retry").flatMap(answersTo)
  if (answers.length > 0) yield* queue.countAnswers(organizationId, answers)
  const uncounted = settled.flatMap((item) => (reachedNobody(item) ? (item.lease.ramp ?? []) : []))
  if (uncounted.length > 0) yield* queue.giveBackToRamps(organizationId, uncounted)
  return held
})

/** Returns the data of a message that stays in the queue; an unknown outcome doesn't count against the mailbox. */
const keptOf = ({ lease, settlement, attempt }: Settling): ReadonlyArray<KeptMessage> => {
  const attempts = lease.attempt - 1
  if (settlement.state === "retry") return [{ lease, attempt, isUnknown: false, ...settlement }]
  if (settlement.state === "unknown") return [{ lease, attempt, isUnknown: true, attempts, ...settlement }]
  if (settlement.state !== "unrendered") return []
  return [{ lease, attempt, isUnknown: false, attempts, delaySeconds: null, failure: settlement.failure }]
}

const finalOf = ({ lease, settlement, attempt }: Settling): ReadonlyArray<FinalMessage> =>
  settlement.state === "sent" || settlement.state === "bounced" ? [{ lease, settlement, attempt }] : []

const rejectionOf = ({ lease: { campaignId, email }, settlement }: Settling): ReadonlyArray<DomainRejection> =>
  settlement.state === "retry" && settlement.refusedWith !== undefined
    ? [{ campaignId, email, status: settlement.refusedWith, delaySeconds: settlement.delaySeconds }]
    : []

/** Returns the reply of a recipient domain's server; empty without one. */
const answersTo = ({ lease: { campaignId, email }, settlement, attempt }: Settling): ReadonlyArray<DomainAnswer> => {
  const reply = attempt?.reply ?? null
  if (settlement.state === "sent") return [{ campaignId, email, answer: "sent", reply: null }]
  if (settlement.state === "bounced") return [{ campaignId, email, answer: bounceReasonOf(settlement.event), reply }]
  const answer = attempt?.outcome
  return answer === "deferred" || answer === "refused" ? [{ campaignId, email, answer, reply }] : []
}

export const bounceReasonOf = ({ data }: EventDraft): BounceReason =>
  BOUNCE_REASONS.find((reason) => "bounce_reason" in data && reason === data.bounce_reason) ?? "other"

/** Returns whether no recipient's server was contacted about the message, as far as known. A deferral is a reply. */
const reachedNobody = ({ lease, settlement }: Settling): boolean =>
  settlement.state === "unrendered" ||
  (settlement.state === "retry" && settlement.attempts < lease.attempt && settlement.refusedWith === undefined)

/** Returns the seconds until each campaign's next returned message, if that is before its next regular turn. */
const retryDelays = (items: ReadonlyArray<Settling>): ReadonlyMap<CampaignId, number> => {
  const delays = new Map<CampaignId, number>()
  for (const { lease, delaySeconds } of items.flatMap(keptOf)) {
    if (delaySeconds === null || delaySeconds >= MAX_TURN_WAIT_SECONDS) continue
    delays.set(lease.campaignId, Math.min(delaySeconds, delays.get(lease.campaignId) ?? Infinity))
  }
  return delays
}
