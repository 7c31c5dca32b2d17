import { BOUNCE_REASONS, EVENTS, type EventType, eventExamples, RECIPIENTS_PER_EVENT } from "@outreach/contract"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { MAX_PROBE_WAIT_SECONDS } from "@outreach/domain/deliveries/breaker"
import { MAX_ATTEMPTS, SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { MAX_EVENT_BYTES } from "@outreach/domain/events/Event"
import { KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import type { WebhookVerificationErrorCode } from "@outreach/webhook-verifier"
import { Struct } from "effect"
import { code, type GuideValues, section, table } from "./renderGuide.ts"

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
  Struct.keys(EVENTS)
    .filter((type) => EVENTS[type].direction === direction)
    .map((type) => {
      const example = code(`Example of ${type}`, JSON.stringify(eventExamples[type], null, 2))
      return section(type, `\`${type}\``, `${EVENTS[type].description} ${NOTES[type]}\n\n${example}`)
    })
    .join("")

/** Errors of the verifier with their remedies. */
const VERIFIER_ERRORS = {
  missing_header: {
    cause: "The request has no `X-Signature`. Either it isn't ours, or one of your proxies dropped the header.",
    fix: "Pass the header through every proxy. Requests without it are rejected correctly.",
  },
  malformed_header: {
    cause:
      "`X-Signature` isn't `t=<unix-seconds>,v1=<hex>`, or it is repeated. A proxy or framework split, joined or changed it.",
    fix: "Pass the header unchanged. `npx @outreach/webhook-verifier verify` shows the invalid part.",
  },
  timestamp_out_of_tolerance: {
    cause:
      "The request was signed more than 5 minutes before or after your current time. Your clock is wrong, or the request waited in a queue.",
    fix: "Synchronize the clock (NTP). If requests wait before you verify them, store the time of receipt and pass it as `receivedAt`. Don't disable the check: it prevents replays.",
  },
  no_match: {
    cause:
      "No signature matches these bytes and one of your secrets. The secret is a different one, or the body was changed.",
    fix: "Compare the secret with the one that we gave you, including the prefix `whsec_`. During a rotation use both. Verify the raw bytes, before any JSON parser. `npx @outreach/webhook-verifier verify` tries common changes and reports the one that matches.",
  },
  body_already_parsed: {
    cause: "A body parser ran first, so the signed bytes are gone.",
    fix: "Put the route before the parser, as in `app.post(path, webhookHandler(…))` before `app.use(express.json())`. If the parser must run first, keep the bytes as `request.rawBody`: `express.json({ verify: … })`.",
  },
  not_a_request: {
    cause:
      "`verify` wasn't called with a request. The body and the header were passed as separate arguments, as with Stripe's libraries, or the headers are missing, a promise, or only the signature.",
    fix: "Call `verifier.verify({ headers: request.headers, body })` with all headers. The status is 500, so the event is sent again.",
  },
  malformed_body: {
    cause: "The body passed to `verify` is neither bytes nor well-formed text.",
    fix: "Pass the raw body as `Uint8Array`, `ArrayBuffer` or string, without parsing it.",
  },
  broken_body: {
    cause: "The body ended early or couldn't be read: the connection broke, or other code read the stream.",
    fix: "Return 500, as the adapters do, and the event is sent again. If it happens every time, look for code that reads the body before the handler. If it happens only with large events, a framework or proxy accepts less than 64 KiB, the size of our largest event.",
  },
  body_too_large: {
    cause: "The body exceeds `maxBytes` of the adapter, which is at least 64 KiB. Our events are never that large.",
    fix: "Ignore it if strangers can reach the URL. Otherwise, find out what enlarges the body.",
  },
  invalid_json: {
    cause: "The signature is valid, but the body isn't UTF-8 JSON.",
    fix: "We don't send such bodies. Check whether you sign test events yourself; otherwise contact us with the `X-Delivery-Id`.",
  },
  not_an_event: {
    cause: "The signature is valid, but the body isn't an event.",
    fix: "Check whether you sign test events yourself: they need `event_id`, `event_type`, `data` and the other fields of the envelope.",
  },
  schema_mismatch: {
    cause:
      "The event is ours, but your `schema` rejects it or throws. The error's `issues` list the fields, `cause` is the thrown error.",
    fix: "Make the schema less strict: accept unknown fields, types and later versions. The status is 500, so the event is sent again for 31 hours and isn't lost until then.",
  },
  no_secrets: {
    cause: "The verifier was created with an empty list of secrets.",
    fix: "Pass at least one: `createWebhookVerifier({ secrets: [process.env.OUTREACH_WEBHOOK_SECRET] })`.",
  },
  empty_secret: {
    cause: "A secret is empty. Usually its environment variable isn't set.",
    fix: "Set the variable where the process runs, and where it is built: `next build` loads route files.",
  },
  malformed_secret: {
    cause:
      "A secret contains a line break, surrounding white space or quotes, or a comma. It was copied with them, or two secrets are in one string.",
    fix: "Store the secret exactly as issued, `whsec_…`. Pass several as a list: `secrets: [current, previous]`.",
  },
  too_many_secrets: {
    cause: "The verifier was created with more than 16 secrets.",
    fix: "Use the current secret, and the previous one during a rotation. Remove expired secrets.",
  },
  invalid_options: {
    cause:
      "An option of the verifier is invalid: `secrets` isn't a list of strings, or `tolerance`, `now`, `receivedAt`, `schema` or `maxBytes` has the wrong type.",
    fix: "Compare the options with the package's README. Times are Unix seconds, or a `Date` for `receivedAt`. Use `now: () => Date.now() / 1000`, not `Date.now`. `tolerance` is at most 3,600. `maxBytes` is a whole number of at least 65,536: `Number(…)` of an unset variable is `NaN`.",
  },
} as const satisfies Record<WebhookVerificationErrorCode, { readonly cause: string; readonly fix: string }>

/** Values of the webhooks page, including limits. */
export const webhookValues: GuideValues = {
  deliverySchedule: deliverySchedule(),
  // The verifier's messages link to these sections.
  verifierErrors: Struct.keys(VERIFIER_ERRORS)
    .map((code) => {
      const { cause, fix } = VERIFIER_ERRORS[code]
      return section(code, `\`${code}\``, `- **Cause**: ${cause}\n- **What to do**: ${fix}`)
    })
    .join(""),
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
