import { Effect } from "effect"
import type { SenderId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"
import type { MessageLease } from "./Message.ts"
import {
  type ClaimDecision,
  type Deferral,
  type DueMessage,
  type DueMessages,
  type MessageClaim,
  MessageQueue,
} from "./MessageQueue.ts"

/** Number of messages to read after the first ones all had to wait; those are deferred, so they are read once. */
const SCAN_FURTHER = 1000

/**
 * Leases due messages, as many as the rates allow.
 *
 * Rates are database rows that a claim locks before counting, so they apply to all workers. Messages of a paused domain, or one that
 * reached its rate, are deferred so that they don't block other messages.
 */
export const claimMessages = Effect.fnUntraced(function* (claim: MessageClaim) {
  const transaction = yield* Transaction
  const queue = yield* MessageQueue
  const { limit, leaseSeconds } = claim
  const claimOnce = Effect.fnUntraced(function* (scanLimit: number) {
    const due = yield* queue.lockDue(claim, scanLimit)
    if (due === null) return { leases: [], deferred: 0 }
    const decision = decideClaim(due, claim, limit)
    const tokens = yield* queue.lease(decision, leaseSeconds)
    const leases = decision.leases.flatMap(({ domain, perMinute, senderId, ...message }): MessageLease[] => {
      const leaseToken = tokens.get(message.recipientId)
      const ramp = senderId === null ? undefined : due.ramps[senderId]
      return leaseToken === undefined
        ? []
        : [{ ...message, leaseToken, ramp: ramp ? { senderId: senderId!, day: ramp.day } : null }]
    })
    return { leases, deferred: decision.deferrals.length }
  })
  let scanLimit = limit
  while (true) {
    const { leases, deferred } = yield* transaction.run(claimOnce(scanLimit))
    if (leases.length > 0 || deferred === 0) return leases
    scanLimit = SCAN_FURTHER
  }
})

/** Unused slots of a rate are kept for one second, so that a late claim doesn't reduce the throughput. */
const SAVED_SECONDS = 1

/** Start of a rate's next slot, without slots older than the saved time. */
const slotFrom = (nextAt: number | undefined, now: number): number => Math.max(nextAt ?? 0, now - SAVED_SECONDS)

/** Returns the number of messages that a rate allows now; unlimited without a rate. */
export const openSlots = (nextAt: number | undefined, perMinute: number | null, now: number): number =>
  perMinute === null ? Infinity : Math.max(0, 1 + Math.floor(((now - slotFrom(nextAt, now)) * perMinute) / 60))

/** Returns the start of a rate's next slot after it was used. */
export const nextSlot = (nextAt: number | undefined, perMinute: number, now: number, times: number): number =>
  slotFrom(nextAt, now) + (times * 60) / perMinute

/** Limits over all campaigns. */
type ClaimRates = Pick<MessageClaim, "perMinute" | "perDomainMinute">

/** The rates of a message. Those with `isDeferring` defer messages until a slot is free. */
const ratesOf = (
  { campaignId, domain, perMinute }: DueMessage,
  bounds: ClaimRates,
): ReadonlyArray<{ readonly name: string; readonly perMinute: number | null; readonly isDeferring: boolean }> => [
  { name: `domain ${domain}`, perMinute: bounds.perDomainMinute, isDeferring: true },
  { name: `campaign ${campaignId}`, perMinute, isDeferring: false },
  { name: "all", perMinute: bounds.perMinute, isDeferring: false },
]

/**
 * Decides which due messages are leased, at most `limit`, and when others become due.
 *
 * A message is leased in order of turns if its campaign's pauses, its sender's ramp, and the rates of its domain, its campaign and of
 * all campaigns have a slot; only leased messages use slots. Messages blocked by a pause or a domain's rate
 * are deferred, so that claims don't read them until then. Messages blocked by other limits stay due.
 */
export const decideClaim = (due: DueMessages, bounds: ClaimRates, limit: number): ClaimDecision => {
  const { now, ramps } = due
  const slotsOf = (name: string, perMinute: number | null) => openSlots(due.rates[name], perMinute, now)
  const pauses = new Map(due.pauses.map(({ campaignId, domain, until }) => [`${campaignId} ${domain}`, until]))
  /** Number of leased messages by rate. */
  const leased = new Map<string, { readonly perMinute: number | null; readonly count: number }>()
  const ofRamp = new Map<SenderId, ClaimDecision["ramps"][number]>()
  const deferred = new Map<string, number>()
  const leases: DueMessage[] = []
  const deferrals: Deferral[] = []
  const served: Array<ClaimDecision["served"][number]> = []

  for (const message of due.candidates) {
    const { organizationId, campaignId, recipientId, senderId } = message
    const ramp = senderId === null ? undefined : ramps[senderId]
    const sentOfRamp = senderId === null ? 0 : (ofRamp.get(senderId)?.times ?? 0)
    const until = pauses.get(`${campaignId} ${message.domain}`) ?? 0
    const rates = ratesOf(message, bounds)
    const full = rates.find(({ name, perMinute }) => (leased.get(name)?.count ?? 0) >= slotsOf(name, perMinute))
    if (until > now) {
      deferrals.push({ organizationId, recipientId, until, scope: null, rank: 0, perMinute: null })
    } else if (ramp !== undefined && sentOfRamp >= ramp.slots) {
      continue
    } else if (full?.isDeferring) {
      const { name } = full
      const perMinute = full.perMinute!
      const scope = `deferral ${campaignId} ${name}`
      const free = nextSlot(due.rates[name], perMinute, now, slotsOf(name, perMinute))
      const rank = deferred.get(scope) ?? 0
      deferrals.push({ organizationId, recipientId, until: free, scope, rank, perMinute })
      deferred.set(scope, rank + 1)
    } else if (full !== undefined || leases.length >= limit) {
      continue
    } else {
      leases.push(message)
      for (const { name, perMinute } of rates)
        leased.set(name, { perMinute, count: (leased.get(name)?.count ?? 0) + 1 })
      if (ramp !== undefined) {
        ofRamp.set(senderId!, { organizationId, senderId: senderId!, day: ramp.day, times: sentOfRamp + 1 })
      }
    }
    served.push({ organizationId, campaignId })
  }
  const servedCampaigns = new Set(served.map(({ campaignId }) => campaignId))
  const waiting = new Set(due.waitingCampaigns)
  return {
    leases,
    deferrals,
    rates: Object.fromEntries(
      [...leased].flatMap(([name, { perMinute, count }]) =>
        perMinute === null ? [] : [[name, nextSlot(due.rates[name], perMinute, now, count)]],
      ),
    ),
    ramps: [...ofRamp.values()],
    organizations: due.heldOrganizations,
    // A campaign with due messages that received no slot keeps its turn.
    campaigns: due.heldCampaigns.filter(
      ({ campaignId }) => !waiting.has(campaignId) || servedCampaigns.has(campaignId),
    ),
    served,
  }
}
