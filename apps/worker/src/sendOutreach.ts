import type { CampaignId } from "@outreach/domain/Identifier"
import { composeMail } from "@outreach/domain/outreach/composeMail"
import type { MessageLease } from "@outreach/domain/outreach/Message"
import { type MessageClaim, MessageQueue } from "@outreach/domain/outreach/MessageQueue"
import { sendMessage } from "@outreach/domain/outreach/Outreach"
import { ReturnPaths } from "@outreach/domain/outreach/ReturnPaths"
import { TrackingLinks } from "@outreach/domain/outreach/TrackingLinks"
import { Cache, Clock, Effect, Metric } from "effect"
import { leaseLoop } from "./leaseLoop.ts"
import { metrics } from "./metrics.ts"
import { workerLimits } from "./workerLimits.ts"

const { atOnce, callMs, leastRoom, mostHeld, leaseSeconds } = workerLimits.messages

/** A call that begins later than this after its claim could outlast the lease, and reach a recipient who was withdrawn by then. */
const BEGIN_WITHIN = BigInt(leaseSeconds * 1000 - callMs) * 1_000_000n

interface TimedLease extends MessageLease {
  /** In nanoseconds, by a clock that nobody sets. */
  readonly claimedAt: bigint
}

/** Sends the e-mails of campaigns whose window is open, until interrupted. `mailDomain` is the right-hand side of each Message-ID. */
export const sendOutreach = Effect.fnUntraced(function* (
  options: { readonly mailDomain: string; readonly drainSeconds: number } & Pick<
    MessageClaim,
    "perMinute" | "perDomainMinute"
  >,
) {
  const { mailDomain, drainSeconds, perMinute, perDomainMinute } = options
  const { shortestMs, longestMs } = workerLimits.backoff
  const queue = yield* MessageQueue
  const settings = { links: yield* TrackingLinks, returnPaths: yield* ReturnPaths, mailDomain }
  const composers = yield* Cache.make({
    capacity: 100,
    timeToLive: "1 minute",
    lookup: (campaignId: CampaignId) =>
      Effect.map(queue.template(campaignId), (template) => composeMail(template, settings)),
  })
  // While the mail server takes nothing, one message now and then asks whether it does again.
  let wait = 0
  let asksAgainAt = 0

  const sendOne = Effect.fnUntraced(function* (lease: TimedLease, answered: Effect.Effect<void>) {
    const mail = (yield* Cache.get(composers, lease.campaignId))(lease)
    const { settled, outcome, settlement } = yield* sendMessage(lease, mail, {
      beginBy: lease.claimedAt + BEGIN_WITHIN,
      answered,
    })
    yield* Metric.update(metrics.mailAttempts[outcome._tag], 1)
    if (outcome._tag === "Unreachable") {
      const now = yield* Clock.currentTimeMillis
      if (now < asksAgainAt) return
      wait = Math.min(wait * 2 || shortestMs, longestMs)
      asksAgainAt = now + wait
      return yield* Effect.logWarning("mail server takes nothing").pipe(
        Effect.annotateLogs({ seconds: wait / 1000, ...(outcome.status && { status: outcome.status }) }),
      )
    }
    // A message that was late asked nothing.
    if (outcome._tag !== "Late") wait = 0
    if (!settled) return
    const about = { recipientId: lease.recipientId, campaignId: lease.campaignId, attempt: lease.attempt }
    yield* outcome._tag === "Refused"
      ? Effect.logWarning("campaign leaves a recipient domain alone, which refuses us").pipe(
          Effect.annotateLogs({ ...about, status: outcome.status }),
        )
      : Effect.logDebug("message attempted").pipe(Effect.annotateLogs({ ...about, state: settlement.state }))
  })

  return yield* leaseLoop("sendOutreach", {
    atOnce,
    leastRoom,
    mostHeld,
    drainSeconds,
    claim: Effect.fnUntraced(function* (room: number) {
      if (wait > 0 && (yield* Clock.currentTimeMillis) < asksAgainAt) return []
      const claimedAt = yield* Clock.currentTimeNanos
      const leases = yield* queue.claim({ limit: wait > 0 ? 1 : room, leaseSeconds, perMinute, perDomainMinute })
      return leases.map((lease) => ({ ...lease, claimedAt }))
    }),
    handle: sendOne,
  })
})
