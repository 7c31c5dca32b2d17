import { RECIPIENTS_PER_EVENT } from "@outreach/contract"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { MAX_EVENT_BYTES } from "@outreach/domain/events/Event"
import { SPECIFIED_SCHEDULE } from "@outreach/retry-policy"
import { KEY_POLICY } from "../http/ResponseContext.ts"
import { type Html, html } from "./html.ts"
import { table } from "./layout.ts"

/** The limits that a partner meets, in figures. */
export const limits = (unauthenticatedLimit: number): Html =>
  table(
    "Limits",
    ["limit", "value", "remarks"],
    [
      [
        "Requests",
        `${KEY_POLICY.limit} a minute for each key`,
        html`The window is the clock minute. Every authenticated request counts, refused ones too. <code>X-RateLimit-Limit</code>,
<code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> come with every answer; a 429 says in <code>Retry-After</code> how long to wait.`,
      ],
      [
        "Failed authentication",
        `${unauthenticatedLimit} a minute for each address`,
        html`Missing, malformed and unknown keys. Beyond it the address is answered 429 until the clock minute ends, unless its key has
been good before. Each of our processes counts for itself.`,
      ],
      ["Health check", "none", html`<code>GET /v1/health</code> is neither authenticated nor counted.`],
      [
        "Page size",
        `${LIMIT.minimum} to ${LIMIT.maximum}, default ${LIMIT.default}`,
        html`<code>limit</code> of the three lists. Follow <code>next_cursor</code> while <code>has_more</code> is true; the other parameters
stay as they were.`,
      ],
      [
        "Idempotency",
        "24 hours for each key",
        html`<code>Idempotency-Key</code>, 1 to 255 printable ASCII characters, on any authenticated request. The same request with the same
key returns what the first one did, with <code>Idempotent-Replayed: true</code>. Where an organization's keys hold a great many large
pages, the oldest are free again before that: their requests are executed anew, without that header.`,
      ],
      [
        "Token lookup",
        "fresh for 10 seconds",
        html`Ask with <code>If-None-Match</code> after that. Not for the click path.`,
      ],
      [
        "Replay window",
        "5 minutes",
        html`Between <code>t</code> of <code>X-Signature</code> and the verifier's clock, either way.`,
      ],
      ["Delivery", `${SPECIFIED_SCHEDULE.length + 1} attempts`, "Then the event is kept for a replay by hand."],
      ["Our patience", "5 seconds to connect, 15 in all", "Acknowledge first, work later."],
      ["Recipients of one event", `${RECIPIENTS_PER_EVENT}`, html`In <code>outreach.recipients_published</code>.`],
      ["An event that we send", `${MAX_EVENT_BYTES / 1024} KiB`, "What body parsers take by default suffices."],
      ["An event that you send", "1 MiB", "Larger bodies are refused with 413."],
    ],
  )

const LIMIT = openapi.paths["/v1/partners/consumer/tokens"].get.parameters.find(({ name }) => name === "limit")!
  .schema as { readonly minimum: number; readonly maximum: number; readonly default: number }
