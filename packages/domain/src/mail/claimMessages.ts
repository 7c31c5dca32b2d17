import { Effect } from "effect"
import { Transaction } from "../Transaction.ts"
import { decideClaim } from "./decideClaim.ts"
import type { MessageLease } from "./Message.ts"
import { type MessageClaim, MessageQueue } from "./MessageQueue.ts"

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
  const { limit, leaseSeconds, perMinute, perDomainMinute } = claim
  const claimOnce = Effect.fnUntraced(function* (scanLimit: number) {
    const due = yield* queue.lockDue(claim, scanLimit)
    if (due === null) return { leases: [], deferred: 0 }
    const decision = decideClaim(due, { perMinute, perDomainMinute }, limit)
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
