import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import type { CampaignId } from "@outreach/domain/Identifier"
import { claimMessages } from "@outreach/domain/mail/claimMessages"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { type MessageClaim, MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { isTried, sendMessage } from "@outreach/domain/mail/Outreach"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import type { MailFailure, MailOutcome } from "@outreach/domain/mail/Transport"
import { composeMail } from "@outreach/domain/mail/templates/composeMail"
import { renderFault } from "@outreach/domain/mail/templates/Template"
import type { SenderIdentity } from "@outreach/domain/senders/Sender"
import { SenderKeyUnreadable, SenderRepository } from "@outreach/domain/senders/Senders"
import { createComposer } from "@outreach/mail/messageComposer"
import { Hints } from "@outreach/postgres/events/Hints"
import { Cache, Clock, Effect, Metric, Tracer } from "effect"
import { claimLoop } from "../loops/claimLoop.ts"
import { nextWait, retryForever } from "../loops/retryForever.ts"
import { metrics } from "../metrics.ts"
import { workerLimits } from "../workerLimits.ts"
import { createSendingTurns } from "./createSendingTurns.ts"

const {
  turns,
  maxTurnsPerCampaign,
  concurrency,
  minSlots,
  maxPerCampaign,
  leaseSeconds,
  renewEveryMs,
  minLeftToBeginMs,
  minLeftToSendMs,
} = workerLimits.messages

const ADVICE: Partial<Record<MailFailure["class"], string>> = {
  login: "set the user name and password in SMTP_URL to those of the mail server",
  tls: "have the mail server offer TLS with a certificate that is valid for its name in SMTP_URL",
}

const NANOS_PER_MS = 1_000_000n
const LEASE_NANOS = BigInt(leaseSeconds) * 1000n * NANOS_PER_MS

/** A lease with its expiry in nanoseconds of the monotonic clock. */
interface TimedLease extends MessageLease {
  endsAt: bigint
}

/** Sends the e-mails of campaigns whose window is open, until interrupted. Campaigns without a sender use `sender`. */
export const sendOutreach = Effect.fnUntraced(function* (
  options: {
    readonly sender: SenderIdentity
    readonly drainSeconds: number
    /** Port on which workers receive mail; null for none, so that messages don't offer to unsubscribe by mail. */
    readonly bouncePort: number | null
  } & Pick<MessageClaim, "perMinute" | "perDomainMinute">,
) {
  const { sender: deploymentSender, drainSeconds, perMinute, perDomainMinute } = options
  const queue = yield* MessageQueue
  const hints = yield* Hints
  const senders = yield* SenderRepository
  const receivesMail = options.bouncePort !== null
  const settings = { links: yield* TrackingLinks, returnPaths: yield* ReturnPaths, receivesMail }
  const composers = yield* Cache.make({
    capacity: 100,
    timeToLive: "1 minute",
    lookup: Effect.fnUntraced(
      function* (campaignId: CampaignId) {
        const sender = (yield* senders.identityOf(campaignId)) ?? deploymentSender
        const write = yield* Effect.try({
          try: () => createComposer(sender),
          catch: () => new SenderKeyUnreadable({ senderId: sender.id ?? "" }),
        })
        const template = yield* queue.template(campaignId)
        const compose = composeMail(template, { ...settings, sender })
        return (lease: MessageLease) => write(compose(lease))
      },
      (effect, campaignId) =>
        Effect.tapError(effect, ({ senderId }) =>
          Effect.logError("DKIM key of a sender unreadable, messages postponed").pipe(
            Effect.annotateLogs({ campaignId, senderId }),
          ),
        ),
    ),
  })
  const clock = yield* Clock.Clock
  const takeTurn = yield* createSendingTurns(turns, maxTurnsPerCampaign)
  const underWay = new Set<TimedLease>()
  const heldByCampaign: Record<CampaignId, number> = {}
  // While the server rejects all messages, occasionally one checks whether it accepts them again.
  let wait = 0
  let asksAgainAt = 0

  const sendOne = Effect.fnUntraced(function* (lease: TimedLease, span: Tracer.Span) {
    const beginBy = lease.endsAt - BigInt(minLeftToBeginMs) * NANOS_PER_MS
    const isHeld = () => clock.currentTimeNanosUnsafe() < lease.endsAt - BigInt(minLeftToSendMs) * NANOS_PER_MS
    // Composed in its turn, so that waiting messages need no memory.
    const composing = Cache.get(composers, lease.campaignId).pipe(
      Effect.mapError((): MailFailure => ({ class: "sender", code: "DKIM" })),
      Effect.flatMap((compose) =>
        Effect.try({
          try: () => compose(lease),
          catch: (error): MailFailure => ({ class: "template", code: renderFault(error) }),
        }),
      ),
    )
    const sending = Effect.gen(function* () {
      const release = yield* takeTurn(lease.campaignId, beginBy)
      if (release !== undefined) underWay.add(lease)
      return yield* sendMessage(lease, composing, { release, isHeld })
    })
    const { settled, outcome, settlement } = yield* Effect.scoped(sending)
    const about = { recipientId: lease.recipientId, campaignId: lease.campaignId, attempt: lease.attempt }
    const failure = "failure" in outcome ? outcome.failure : undefined
    if (failure?.class === "template") {
      yield* Effect.logWarning("message quarantined, template rendering failed").pipe(
        Effect.annotateLogs({ ...about, ...failure }),
      )
    }
    if (!isTried(outcome)) return
    span.attribute("outreach.outcome", outcome._tag.toLowerCase())
    if (FAILURES.has(outcome._tag)) span.attribute("error.type", outcome._tag.toLowerCase())
    yield* Metric.update(metrics.mailAttempts[outcome._tag], 1)
    if (outcome._tag === "Unknown" && settled) {
      const isQuarantined = settlement.state === "retry" && settlement.delaySeconds === null
      yield* Effect.logWarning(
        isQuarantined ? "message quarantined, outcomes unknown" : "message sent, no SMTP reply",
      ).pipe(Effect.annotateLogs({ ...about, ...outcome.failure, unknownOutcomes: lease.unknownOutcomes + 1 }))
    }
    if (failure?.class === "slow") {
      if (outcome._tag === "Unknown") return
      return yield* Effect.logWarning("SMTP server too slow for a message").pipe(
        Effect.annotateLogs({ ...about, ...failure }),
      )
    }
    if (failure !== undefined) {
      const now = yield* Clock.currentTimeMillis
      if (now < asksAgainAt) return
      wait = nextWait(wait)
      asksAgainAt = now + wait
      const advice = ADVICE[failure.class]
      return yield* Effect.logWarning("SMTP server rejects all messages").pipe(
        Effect.annotateLogs({ seconds: wait / 1000, ...failure, ...(advice && { advice }) }),
      )
    }
    if (outcome._tag === "Bounced" && outcome.lacking !== undefined && settled) {
      yield* Effect.logWarning("recipient rejected, SMTP server lacks an extension for the address").pipe(
        Effect.annotateLogs({ ...about, lacking: outcome.lacking }),
      )
    }
    // A late message wasn't sent to the server.
    if (outcome._tag !== "Late") wait = 0
    if (!settled) return
    yield* outcome._tag === "Refused"
      ? Effect.logWarning("recipient domain paused for this campaign").pipe(
          Effect.annotateLogs({ ...about, status: outcome.status }),
        )
      : Effect.logDebug("message attempted").pipe(Effect.annotateLogs({ ...about, state: settlement.state }))
  })

  const renewLeases = Effect.gen(function* () {
    yield* Effect.sleep(renewEveryMs)
    if (underWay.size === 0) return
    const leases = [...underWay]
    const endsAt = (yield* Clock.currentTimeNanos) + LEASE_NANOS
    const held = new Set(yield* queue.renew(leases, leaseSeconds))
    for (const lease of leases) lease.endsAt = held.has(lease.leaseToken) ? endsAt : 0n
  })
  // In the outer scope, so that leases are renewed while messages in flight finish.
  yield* Effect.forkScoped(retryForever("sendOutreach: renewing leases", renewLeases))

  return yield* claimLoop("sendOutreach", {
    listen: (wake) => hints.listen(({ topic }) => (topic === "messages" ? wake : Effect.void)),
    concurrency,
    minSlots,
    drainSeconds,
    claim: Effect.fnUntraced(function* (freeSlots: number) {
      if (wait > 0 && (yield* Clock.currentTimeMillis) < asksAgainAt) return []
      const endsAt = (yield* Clock.currentTimeNanos) + LEASE_NANOS
      const limit = wait > 0 ? 1 : freeSlots
      const rates = { perMinute, perDomainMinute }
      const leases = yield* claimMessages({ limit, leaseSeconds, ...rates, maxPerCampaign, heldByCampaign })
      const fields = leases.length === 0 ? new Map() : yield* queue.fields(leases)
      for (const { campaignId } of leases) heldByCampaign[campaignId] = (heldByCampaign[campaignId] ?? 0) + 1
      return leases.map((lease): TimedLease => ({ ...lease, fields: fields.get(lease.recipientId) ?? {}, endsAt }))
    }),
    handle: (lease: TimedLease) =>
      Effect.useSpan("send e-mail", spanOf(lease), (span) =>
        Effect.provideService(sendOne(lease, span), Tracer.ParentSpan, span),
      ).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            underWay.delete(lease)
            heldByCampaign[lease.campaignId]! -= 1
            if (heldByCampaign[lease.campaignId] === 0) delete heldByCampaign[lease.campaignId]
          }),
        ),
      ),
  })
}, Effect.scoped)

/** Outcomes caused by us or the mail server, not by a mailbox. */
const FAILURES: ReadonlySet<MailOutcome["_tag"]> = new Set(["Refused", "Unreachable", "Unknown"])

const spanOf = ({ recipientId, campaignId, attempt }: MessageLease) =>
  ({
    root: true,
    kind: "client",
    attributes: {
      "outreach.recipient.id": recipientId,
      "outreach.campaign.id": campaignId,
      "outreach.attempt": attempt,
    },
  }) as const
