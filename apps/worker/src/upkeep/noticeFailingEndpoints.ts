import { type FailingHours, NOTICES, nextNotice, noticeDueAt } from "@outreach/domain/deliveries/FailingEndpoint"
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
    ...{ sender, to: contact, returnPath: address, ...composeNotice(notice, options) },
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

/** Composes the notice to an organization's contacts about an endpoint whose calls all fail. Doesn't quote the server's responses. */
const composeNotice = (notice: FailingNotice, { hours, consoleUrl }: NoticeOptions) => {
  const { endpointId, organization, url, since, notices, deadLetters } = notice
  const isDisabled = NOTICES[notices - 1] === "disable"
  const calls = causesOf(notice).reduce((sum, [, count]) => sum + count, 0)
  const state = isDisabled ? "was disabled" : "is failing"
  const text = [
    `The webhook endpoint ${url} of ${organization} ${state}: no call to it has succeeded since ${formatTime(since)}.`,
    facts({
      Endpoint: endpointId,
      Address: url,
      "Failing since": formatTime(since),
      "Calls that failed": String(calls),
      ...Object.fromEntries(causesOf(notice).map(([cause, count]) => [`- ${cause}`, String(count)])),
      "Webhooks given up so far": String(deadLetters),
    }),
    isDisabled
      ? "It receives no more calls. New webhooks are queued and aren't lost. After you have fixed the cause, ask the service's operators to enable the endpoint. They can also replay the webhooks that it missed."
      : whatFollows(notice, hours),
    "How to fix it: check that the address is correct, its name resolves, its certificate is valid, and no firewall blocks the calls. Then check your server's log. An endpoint accepts a webhook by responding with a status from 200 to 299 in time. These notices stop after the first such response.",
    ...(consoleUrl === null ? [] : [`Details: ${consoleUrl}/endpoints/${endpointId}`]),
    `You receive this because your address is a contact of ${organization}. The service's operators change the contacts.`,
  ]
  return { subject: `Webhook endpoint ${endpointId} ${state}`, text: `${text.join("\n\n")}\n` }
}

/** Kinds of failed calls with their counts, the most frequent first. */
const causesOf = ({ clientErrors, serverErrors, otherStatuses, noResponses }: FailingNotice) =>
  (
    [
      ["a status from 400 to 499", clientErrors],
      ["a status from 500 to 599", serverErrors],
      ["another status outside 200 to 299", otherStatuses],
      ["no response: no connection, no valid certificate, or not in time", noResponses],
    ] as const
  )
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)

const whatFollows = (notice: FailingNotice, hours: FailingHours): string => {
  const next = nextNotice(notice.notices, hours)
  const waits = "Until then, its webhooks are retried on schedule."
  if (next === null) return "It isn't disabled automatically, and still receives calls."
  const at = formatTime(noticeDueAt(notice.since, notice, next, hours))
  return NOTICES[next - 1] === "disable"
    ? `If all calls continue to fail, it is disabled at ${at} or soon after. ${waits}`
    : `If all calls continue to fail, you are notified again at ${at} or soon after${hours.disable === null ? "" : `, and the endpoint is disabled after ${hours.disable} hours of failing`}. ${waits}`
}

const facts = (lines: Readonly<Record<string, string>>): string =>
  Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n")

const formatTime = (millis: number): string => `${new Date(millis).toISOString().slice(0, 16).replace("T", " ")} UTC`
