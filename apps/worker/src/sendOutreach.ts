import type { CampaignId } from "@outreach/domain/Identifier"
import type { MessageLease, MessageTemplate } from "@outreach/domain/outreach/Message"
import { MessageQueue } from "@outreach/domain/outreach/MessageQueue"
import { sendMessage } from "@outreach/domain/outreach/Outreach"
import { Cache, Effect } from "effect"
import { leaseLoop } from "./leaseLoop.ts"
import { workerLimits } from "./workerLimits.ts"

const { atOnce, leaseSeconds } = workerLimits.messages

/** Sends the e-mails of campaigns whose window is open, until interrupted. `mailDomain` is the right-hand side of each Message-ID. */
export const sendOutreach = Effect.fnUntraced(function* (options: {
  readonly mailDomain: string
  readonly drainSeconds: number
}) {
  const queue = yield* MessageQueue
  const templates = yield* Cache.make({
    capacity: 100,
    timeToLive: "1 minute",
    lookup: (campaignId: CampaignId): Effect.Effect<MessageTemplate> => queue.template(campaignId),
  })
  const sendOne = Effect.fnUntraced(function* (lease: MessageLease) {
    const template = yield* Cache.get(templates, lease.campaignId)
    const { settled, settlement } = yield* sendMessage(lease, template, options.mailDomain)
    if (!settled) return
    yield* Effect.logDebug("message attempted").pipe(
      Effect.annotateLogs({ recipientId: lease.recipientId, attempt: lease.attempt, state: settlement.state }),
    )
  })
  return yield* leaseLoop("sendOutreach", {
    atOnce,
    drainSeconds: options.drainSeconds,
    claim: (limit) => queue.claim({ limit, leaseSeconds, perMinute: null, perDomainMinute: null }),
    handle: sendOne,
  })
})
