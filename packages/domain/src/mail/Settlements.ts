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
/** How often an outcome is written again while the database is away: for about as long as a lease. */
const MAX_TRIES = 200
/** The longest wait for a campaign's next turn: a retry that comes later needs no turn of its own. */
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
    // An organization's transactions wait for its clock one after another, so settlements that come during one share the next one's stamp.
    const settle = yield* coalesce(MAX_BATCH_SIZE, (items: ReadonlyArray<Settling>) =>
      settleMessages(items).pipe(Effect.provideContext(context)),
    )
    return {
      /**
       * Records the outcome, the attempt and what follows, in one transaction; false when the lease has passed to another worker, and nothing was written.
       *
       * Of attempts with the same number and outcome, such as those while our mail server is away, the last is kept, and how many there were.
       * Should the database be away for a moment, the server's answer is written down later: else the message would be sent again.
       */
      settle: (lease: MessageLease, settlement: MessageSettlement, attempt?: MessageAttempt): Effect.Effect<boolean> =>
        transaction.retryTransient(settle({ lease, settlement, attempt }), MAX_TRIES),
    }
  }),
}) {
  static readonly layer = Layer.effect(Settlements, Settlements.make)
}

/** Settles messages, those of each organization in one transaction; returns for each whether its lease was still held. */
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

/** Settles messages of one organization with one stamp; returns the keys of the leases that were still held. */
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
  // At the end, because a transaction that holds the clock may wait for these rows: none that holds them may wait for the clock.
  const answers = settled.filter((item) => item.settlement.state === "retry").flatMap(answersTo)
  if (answers.length > 0) yield* queue.countAnswers(organizationId, answers)
  const uncounted = settled.flatMap((item) => (reachedNobody(item) ? (item.lease.ramp ?? []) : []))
  if (uncounted.length > 0) yield* queue.giveBackToRamps(organizationId, uncounted)
  return held
})

/** Returns what is written of a message that stays in the queue; an unknown outcome does not count against the mailbox. */
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

/** Returns what the server of a recipient's domain answered; nothing where none was asked, or its answer is not known. */
const answersTo = ({ lease: { campaignId, email }, settlement, attempt }: Settling): ReadonlyArray<DomainAnswer> => {
  const reply = attempt?.reply ?? null
  if (settlement.state === "sent") return [{ campaignId, email, answer: "sent", reply: null }]
  if (settlement.state === "bounced") return [{ campaignId, email, answer: bounceReasonOf(settlement.event), reply }]
  const answer = attempt?.outcome
  return answer === "deferred" || answer === "refused" ? [{ campaignId, email, answer, reply }] : []
}

export const bounceReasonOf = ({ data }: EventDraft): BounceReason =>
  BOUNCE_REASONS.find((reason) => "bounce_reason" in data && reason === data.bounce_reason) ?? "other"

/** Reports whether no recipient's server was asked about the message, as far as we know. A deferral was an answer. */
const reachedNobody = ({ lease, settlement }: Settling): boolean =>
  settlement.state === "unrendered" ||
  (settlement.state === "retry" && settlement.attempts < lease.attempt && settlement.refusedWith === undefined)

/** Returns in how many seconds each campaign has a message again that was put back, if that is before its next turn at the latest. */
const retryDelays = (items: ReadonlyArray<Settling>): ReadonlyMap<CampaignId, number> => {
  const delays = new Map<CampaignId, number>()
  for (const { lease, delaySeconds } of items.flatMap(keptOf)) {
    if (delaySeconds === null || delaySeconds >= MAX_TURN_WAIT_SECONDS) continue
    delays.set(lease.campaignId, Math.min(delaySeconds, delays.get(lease.campaignId) ?? Infinity))
  }
  return delays
}
