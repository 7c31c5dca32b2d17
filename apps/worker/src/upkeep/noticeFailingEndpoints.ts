import type { FailingHours } from "@outreach/domain/deliveries/FailingEndpoint"
import {
  FailingEndpointRepository,
  type FailingNotice,
  type GivenNotice,
  judgeFailingEndpoints,
} from "@outreach/domain/deliveries/FailingEndpoints"
import { Transport } from "@outreach/domain/mail/Transport"
import { domainOf, type SenderIdentity } from "@outreach/domain/senders/Sender"
import { createComposer } from "@outreach/mail/messageComposer"
import { Clock, Effect } from "effect"
import { repeatEvery } from "../loops/retryForever.ts"
import { composeFailingNotice } from "./composeFailingNotice.ts"
import { whileClockTrusted } from "./watchClock.ts"

/** Options of the notices. */
export interface NoticeOptions {
  readonly hours: FailingHours
  /** URL of the console; null if unknown. */
  readonly consoleUrl: string | null
  readonly sender: SenderIdentity
}

/** How long to retry an address if its server defers the notice. */
const MAX_DEFERRED_MS = 3 * 86_400_000

/** Every five minutes, notifies organizations of failing endpoints, and disables endpoints that failed for too long. Until interrupted. */
export const noticeFailingEndpoints = (options: NoticeOptions) => {
  const judge = Effect.flatMap(judgeFailingEndpoints(options.hours), (given) => Effect.forEach(given, logNotice))
  // Separately, because a mail server may take minutes to respond.
  return Effect.raceFirst(
    repeatEvery("noticeFailingEndpoints", "5 minutes", whileClockTrusted(judge)),
    repeatEvery("noticeFailingEndpoints: sending", "5 minutes", sendNotices(options)),
  )
}

const logNotice = ({ contacts, ...given }: GivenNotice) =>
  contacts === 0
    ? Effect.logWarning("endpoint failing, organization has no contacts").pipe(Effect.annotateLogs(given))
    : Effect.logInfo("endpoint failing, contacts notified").pipe(Effect.annotateLogs({ ...given, contacts }))

/** Sends pending notices. A deferred notice is retried in half an hour. */
export const sendNotices = Effect.fnUntraced(function* (options: NoticeOptions) {
  const notices = yield* FailingEndpointRepository
  while (true) {
    const notice = yield* notices.claim
    if (notice === undefined) return
    for (const contact of notice.contacts) {
      if (yield* tell(notice, contact, options)) yield* notices.settle(notice, contact)
    }
  }
})

/** Sends a notice to a contact. Returns whether it is finished. */
const tell = Effect.fnUntraced(function* (notice: FailingNotice, contact: string, options: NoticeOptions) {
  const { sender } = options
  const { endpointId, organizationId, notices, since, noticedAt } = notice
  const { address } = sender.from
  const mail = {
    ...{ sender, to: contact, returnPath: address, ...composeFailingNotice(notice, options) },
    messageId: `<${endpointId}.${since}.${notices}@${domainOf(address)}>`,
  }
  // Prevents automatic replies (RFC 3834).
  const headers = { "Auto-Submitted": "auto-generated" }
  const outcome = yield* (yield* Transport).deliver(createComposer(sender)(mail, headers), () => true)
  if (outcome._tag === "Accepted") return true
  const isRefused =
    outcome._tag === "Bounced" ||
    outcome._tag === "Refused" ||
    (outcome._tag === "Deferred" && (yield* Clock.currentTimeMillis) - noticedAt > MAX_DEFERRED_MS)
  yield* Effect.logWarning(
    isRefused
      ? "failing endpoint notice rejected, contact skipped"
      : "failing endpoint notice not sent, will be retried",
  ).pipe(
    Effect.annotateLogs({
      ...{ endpointId, organizationId, outcome: outcome._tag },
      ...("failure" in outcome && outcome.failure),
    }),
  )
  return isRefused
})
