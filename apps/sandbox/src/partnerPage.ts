import { EVENTS, type EventType } from "@outreach/contract"
import { type Html, html, join, type Part } from "@outreach/process/html"
import { page, table } from "./page.ts"

/** The sample partner's counts, as `/received.json` has them. */
export interface PartnerCounts {
  /** Events that arrived by webhook, by type. */
  readonly counts: Record<string, number>
  /** Webhooks whose event was already stored. */
  duplicates: number
  /** Requests without a valid signature. */
  rejected: number
  /** Events read from the feed. */
  reconciled: number
  /** Events that the service has accepted from the partner, by stage. */
  readonly told: Record<string, number>
}

export interface StoredEvent {
  readonly event_type: string
  /** How many webhooks brought the event; 0 if only the feed did. */
  readonly copies: number
  readonly received_at: Date
  readonly body: string
}

/** Renders the page of the events that the sample partner received, verified, deduplicated, reconciled and sent. */
export const partnerPage = (
  { counts, duplicates, rejected, reconciled, told }: PartnerCounts,
  events: ReadonlyArray<StoredEvent>,
  options: { readonly byFeedAlone: number; readonly consoleUrl: string },
): Html => {
  const { byFeedAlone, consoleUrl } = options
  const stored = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const sent = Object.values(told).reduce((sum, count) => sum + count, 0)
  const summary = [
    ["Received", stored + duplicates + rejected, "webhooks of the service"],
    ["Verified", stored + duplicates, `with a valid signature; ${number(rejected)} without one were refused`],
    ["Deduplicated", duplicates, `repeats of an event that was already stored; ${number(stored)} events remain`],
    [
      "Reconciled",
      reconciled,
      `events read from the feed; ${number(byFeedAlone)} of them did not arrive by webhook so far`,
    ],
    ["Sent", sent, "signed webhooks to the service: clinicians who signed up, learned and completed here"],
  ] as const
  const types = (Object.keys(EVENTS) as EventType[]).map((name) => {
    const { direction, description } = EVENTS[name]
    return direction === "to_consumer"
      ? [name, "received", counts[name] ?? 0, description.replaceAll("`", "")]
      : [name, "sent", told[name.replace("clinician.", "")] ?? 0, description]
  })
  const rows = events.map(({ event_type, copies, received_at, body }) => [
    received_at.toISOString().slice(11, 19),
    event_type,
    describe(body),
    copies === 0 ? "feed" : copies === 1 ? "webhook" : `webhook, ${copies} times`,
  ])
  return page({
    title: "Sample partner",
    refreshSeconds: 5,
    lead: html`<p>Plays a partner's platform: verifies the signature of each webhook, stores each event once, reads the feed every 5 seconds,
and sends the service events about clinicians. This page reloads every 5 seconds. Whole events are in <a href="/received.json">JSON</a>.</p>
<p><a href="${consoleUrl}">The partner's own view of the console</a>: its endpoint and deliveries, why some failed, its keys, secrets and usage.</p>`,
    main: html`${table(["Step", "Count", "What"], summary)}
<h2>Event types</h2>
${table(["Type", "Direction", "Count", "Meaning"], types)}
<h2>Latest received events</h2>
${rows.length === 0 ? html`<p>None yet.</p>` : table(["Time (UTC)", "Event", "About", "Came by"], rows)}`,
  })
}

const number = (value: number): string => value.toLocaleString("en")

/** Summarises an event: its token and the fields that only its type has. */
const describe = (body: string): Part => {
  const { data } = JSON.parse(body) as { readonly data: Readonly<Record<string, unknown>> }
  const { token, recipients, bounce_reason: reason, is_bot_suspected: suspected } = data
  const parts = [
    ...(Array.isArray(recipients) ? [`${number(recipients.length)} recipients`] : []),
    ...(typeof token === "string" ? [html`<code>${token}</code>`] : []),
    ...(typeof reason === "string" ? [reason] : []),
    ...(suspected === true ? ["bot suspected"] : []),
  ]
  return join(parts, " · ")
}
