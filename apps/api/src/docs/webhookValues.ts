import { BOUNCE_REASONS, EVENTS, type EventType, eventExamples, RECIPIENTS_PER_EVENT } from "@outreach/contract"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { MAX_PROBE_WAIT_SECONDS } from "@outreach/domain/deliveries/breaker"
import { MAX_ATTEMPTS, SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { MAX_EVENT_BYTES } from "@outreach/domain/events/Event"
import { KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { keysOf } from "./layout.ts"
import { code, type GuideValues, section, table } from "./renderGuide.ts"
import { verifierErrors } from "./verifierErrors.ts"

const LIMIT = openapi.paths["/v1/partners/consumer/tokens"].get.parameters.find(({ name }) => name === "limit")!
  .schema as { readonly minimum: number; readonly maximum: number; readonly default: number }

const deliverySchedule = (): string =>
  table(
    ["attempt", "after the one before", "since the first"],
    ["1", "at once", "0"],
    ...SPECIFIED_SCHEDULE.delays.map((delay, i, delays) => [
      `${i + 2}`,
      duration(delay),
      duration(delays.slice(0, i + 1).reduce((sum, one) => sum + one)),
    ]),
  )

const UNITS = [
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const

const duration = (milliseconds: number): string => {
  const [unit, length] = UNITS.find(([, size]) => milliseconds >= size)!
  const count = Math.round((milliseconds / length) * 10) / 10
  return `${count * length === milliseconds ? "" : "about "}${count} ${unit}${count === 1 ? "" : "s"}`
}

/** Notes on each event, in addition to its description in the contract. */
const NOTES = {
  "outreach.recipients_published": `Seat the tokens before the first click. One event contains at most ${RECIPIENTS_PER_EVENT} recipients; larger campaigns are sent as several events, in any order.`,
  "outreach.email_sent": "The receiving server has accepted the message.",
  "outreach.email_bounced": `Mark the token as undeliverable: no account will be created with it. \`bounce_reason\` is one of ${BOUNCE_REASONS.map((reason) => `\`${reason}\``).join(", ")}; new values may be added.`,
  "outreach.email_opened":
    "Opens are a weak signal: mail clients that load images automatically open everything. `is_bot_suspected` is a hint, based on known scanners and on hits within a second.",
  "outreach.email_clicked":
    "Clicks are more reliable than opens. Suspected bots are included: filter them if you need to.",
  "clinician.account_created":
    "Send it for every account, so that we don't invite your existing users. With `attribution` set to `service_token`, `token` is required.",
  "clinician.learner_qualified":
    "Counts once per clinician and program, and withdraws unsent invitations to that clinician.",
  "clinician.completer_qualified":
    "Counts only as a completer. If the clinician is also a learner, send that event too.",
} as const satisfies Record<EventType, string>

/** Events of one direction, each with an example body. */
const eventCatalogue = (direction: "to_consumer" | "to_service"): string =>
  keysOf(EVENTS)
    .filter((type) => EVENTS[type].direction === direction)
    .map((type) => {
      const example = code(`Example of ${type}`, JSON.stringify(eventExamples[type], null, 2))
      return section(type, `\`${type}\``, `${EVENTS[type].description} ${NOTES[type]}\n\n${example}`)
    })
    .join("")

/** Values of the webhooks page, including limits. */
export const webhookValues: GuideValues = {
  deliverySchedule: deliverySchedule(),
  verifierErrors,
  eventsToYou: eventCatalogue("to_consumer"),
  eventsToUs: eventCatalogue("to_service"),
  requestsPerMinute: KEY_REQUESTS_PER_MINUTE,
  pageSize: `${LIMIT.minimum} to ${LIMIT.maximum}, default ${LIMIT.default}`,
  maxAttempts: MAX_ATTEMPTS,
  maxProbeWait: duration(MAX_PROBE_WAIT_SECONDS * 1000),
  attempts: SPECIFIED_SCHEDULE.delays.length + 1,
  recipientsPerEvent: RECIPIENTS_PER_EVENT,
  maxEventKib: MAX_EVENT_BYTES / 1024,
}
