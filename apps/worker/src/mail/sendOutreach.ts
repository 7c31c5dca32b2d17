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
import { monotonicMs } from "@outreach/domain/monotonicMs"
import type { SenderIdentity } from "@outreach/domain/senders/Sender"
import { SenderKeyUnreadable, SenderRepository } from "@outreach/domain/senders/Senders"
import { createComposer } from "@outreach/mail/messageComposer"
import { Hints } from "@outreach/postgres/events/Hints"
import { Cache, Clock, Effect, Metric, Tracer } from "effect"
import { claimLoop } from "../loops/claimLoop.ts"
import { nextWait, retryForever } from "../loops/retryForever.ts"
import { metrics } from "../metrics.ts"
import { createSendingTurns } from "./createSendingTurns.ts"

/** Maximum messages that are sent at the same time, each over its own connection: in total and per campaign, so that slow replies leave some for others. */
const TURNS = 20
const MAX_TURNS_PER_CAMPAIGN = 16
/** Maximum messages that are sent or not recorded yet. A killed worker repeats at most these. */
const MAX_UNRECORDED = 100
/**
 * Maximum messages that wait for a turn, are sent or are recorded: as many as were sent in the last second, because a claim costs hardly more for
 * many messages than for few. A slow server gets fewer, so that they are sent before their lease ends. One campaign gets three quarters.
 */
const HELD = { min: 160, max: 640, ofCampaign: 0.75 }
const LEASE_SECONDS = 100
/** Renewal interval of the lease of a message in progress. */
const RENEW_EVERY_MS = 25_000
const LEASE_MS = LEASE_SECONDS * 1000
/** Minimum remaining lease to start a message: a renewal, and a pause of the process. */
const MIN_LEFT_TO_BEGIN_MS = 40_000
/** Minimum remaining lease when the content is sent. */
const MIN_LEFT_TO_SEND_MS = 5000

const ADVICE: Partial<Record<MailFailure["class"], string>> = {
  login: "set the user name and password in SMTP_URL to those of the mail server",
  tls: "have the mail server offer TLS with a certificate that is valid for its name in SMTP_URL",
}

/** A lease with its expiry in monotonic milliseconds. */
interface TimedLease extends MessageLease {
  endsAt: number
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
  const turns = yield* createSendingTurns({
    ...{ size: TURNS, perCampaign: MAX_TURNS_PER_CAMPAIGN, unrecorded: MAX_UNRECORDED },
  })
  const maxHeld = () => Math.min(Math.max(turns.perSecond(), HELD.min), HELD.max)
  const underWay = new Set<TimedLease>()
  const heldByCampaign: Record<CampaignId, number> = {}
  // While the server rejects all messages, occasionally one checks whether it accepts them again.
  let wait = 0
  let asksAgainAt = 0
  /** Whether campaigns may have had their last message since the last empty claim. */
  let hasSettled = false

  const sendOne = Effect.fnUntraced(function* (lease: TimedLease, span: Tracer.Span) {
    const isHeld = () => monotonicMs(clock) < lease.endsAt - MIN_LEFT_TO_SEND_MS
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
    const { settled, outcome, settlement } = yield* turns.inTurn(
      lease.campaignId,
      lease.endsAt - MIN_LEFT_TO_BEGIN_MS,
      (release) => {
        if (release !== undefined) underWay.add(lease)
        return sendMessage(lease, composing, { release, isHeld })
      },
    )
    hasSettled ||= settled
    if (outcome._tag === "Late") yield* hints.give("messages")
    const { recipientId, campaignId, attempt } = lease
    const log = (message: string, about: object, write = Effect.logWarning) =>
      Effect.annotateLogs(write(message), { recipientId, campaignId, attempt, ...about })
    const failure = "failure" in outcome ? outcome.failure : undefined
    if (failure?.class === "template") yield* log("message quarantined, template rendering failed", failure)
    if (!isTried(outcome)) return
    span.attribute("outreach.outcome", outcome._tag.toLowerCase())
    if (FAILURES.has(outcome._tag)) span.attribute("error.type", outcome._tag.toLowerCase())
    yield* Metric.update(metrics.mailAttempts[outcome._tag], 1)
    if (outcome._tag === "Unknown" && settled) {
      const isQuarantined = settlement.state === "retry" && settlement.delaySeconds === null
      const about = { ...outcome.failure, unknownOutcomes: lease.unknownOutcomes + 1 }
      yield* log(isQuarantined ? "message quarantined, outcomes unknown" : "message sent, no SMTP reply", about)
    }
    if (failure?.class === "slow") {
      return outcome._tag === "Unknown" ? undefined : yield* log("SMTP server too slow for a message", failure)
    }
    if (failure !== undefined) {
      const now = monotonicMs(clock)
      if (now < asksAgainAt) return
      wait = nextWait(wait)
      asksAgainAt = now + wait
      const advice = ADVICE[failure.class]
      return yield* Effect.logWarning("SMTP server rejects all messages").pipe(
        Effect.annotateLogs({ seconds: wait / 1000, ...failure, ...(advice && { advice }) }),
      )
    }
    if (outcome._tag === "Bounced" && outcome.lacking !== undefined && settled) {
      const { lacking } = outcome
      yield* log("recipient rejected, SMTP server lacks an extension for the address", { lacking })
    }
    // A late message wasn't sent to the server.
    if (outcome._tag !== "Late") wait = 0
    if (!settled) return
    yield* outcome._tag === "Refused"
      ? log("recipient domain paused for this campaign", { status: outcome.status })
      : log("message attempted", { state: settlement.state }, Effect.logDebug)
  })

  const renewLeases = Effect.gen(function* () {
    yield* Effect.sleep(RENEW_EVERY_MS)
    if (underWay.size === 0) return
    const leases = [...underWay]
    const endsAt = monotonicMs(clock) + LEASE_MS
    const held = new Set(yield* queue.renew(leases, LEASE_SECONDS))
    for (const lease of leases) lease.endsAt = held.has(lease.leaseToken) ? endsAt : 0
  })
  // In the outer scope, so that leases are renewed while messages in flight finish.
  yield* Effect.forkScoped(retryForever("sendOutreach: renewing leases", renewLeases))

  return yield* claimLoop("sendOutreach", {
    listen: (wake) => hints.listen(({ topic }) => (topic === "messages" ? wake : Effect.void)),
    concurrency: maxHeld,
    drainSeconds,
    // Messages without a turn return to the queue, so that another worker can send them.
    onStop: turns.stop,
    claim: Effect.fnUntraced(function* (freeSlots: number) {
      const now = monotonicMs(clock)
      if (wait > 0 && now < asksAgainAt) return []
      const endsAt = now + LEASE_MS
      const limit = wait > 0 ? 1 : freeSlots
      const limits = { limit, perMinute, perDomainMinute, maxPerCampaign: Math.floor(HELD.ofCampaign * maxHeld()) }
      const leases = yield* claimMessages({ ...limits, leaseSeconds: LEASE_SECONDS, heldByCampaign })
      const fields = leases.length === 0 ? new Map() : yield* queue.fields(leases)
      for (const { campaignId } of leases) heldByCampaign[campaignId] = (heldByCampaign[campaignId] ?? 0) + 1
      return leases.map((lease): TimedLease => ({ ...lease, fields: fields.get(lease.recipientId) ?? {}, endsAt }))
    }),
    untilDue: Effect.gen(function* () {
      if (hasSettled) yield* hints.give("campaigns")
      hasSettled = false
      if (wait > 0) return asksAgainAt - monotonicMs(clock)
      return Math.min(yield* queue.untilNextTurn, hints.checkEveryMs())
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
