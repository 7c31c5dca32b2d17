import { type FailingHours, NOTICES, nextNotice, noticeDueAt } from "@outreach/domain/deliveries/FailingEndpoint"
import type { FailingNotice } from "@outreach/domain/deliveries/FailingEndpointRepository"

/** Composes the notice to an organization's contacts about an endpoint whose calls all fail. Doesn't quote the server's responses. */
export const composeFailingNotice = (
  notice: FailingNotice,
  { hours, consoleUrl }: { readonly hours: FailingHours; readonly consoleUrl: string | null },
): { readonly subject: string; readonly text: string } => {
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
      ? "It is called no longer. Webhooks that are published from now on wait, and nothing that waits is lost. Once the cause is mended, ask the service's operators to enable it; they can send what it missed with it."
      : whatFollows(notice, hours),
    "How to mend it: see whether the address is still right, its name resolves, its certificate is valid, and a firewall lets the calls through; then see what your server's log says of them. An endpoint accepts a webhook by responding with a status from 200 to 299 in time. The first such response ends this.",
    ...(consoleUrl === null ? [] : [`Where to look: ${consoleUrl}/endpoints/${endpointId}`]),
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
      ["another status that accepts nothing", otherStatuses],
      ["no response: no connection, no valid certificate, or not in time", noResponses],
    ] as const
  )
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)

const whatFollows = (notice: FailingNotice, hours: FailingHours): string => {
  const next = nextNotice(notice.notices, hours)
  const waits = "Until then its webhooks are tried again as the documents say."
  if (next === null) return "It is not disabled by itself, and is called as before."
  const at = formatTime(noticeDueAt(notice.since, notice, next, hours))
  return NOTICES[next - 1] === "disable"
    ? `If every call goes on failing, it is disabled at ${at} or soon after. ${waits}`
    : `If every call goes on failing, you are notified again at ${at} or soon after${hours.disable === null ? "" : `, and the endpoint is disabled after ${hours.disable} hours of failing`}. ${waits}`
}

const facts = (lines: Readonly<Record<string, string>>): string =>
  Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n")

const formatTime = (millis: number): string => `${new Date(millis).toISOString().slice(0, 16).replace("T", " ")} UTC`
