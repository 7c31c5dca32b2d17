import { EVENT_RECIPIENTS } from "@outreach/contract/names"
import type { OutreachEventType } from "@outreach/domain/events/Event"

type TypeAbout<Recipients> = {
  [Type in OutreachEventType]: (typeof EVENT_RECIPIENTS)[Type] extends Recipients ? Type : never
}[OutreachEventType]
type Stamp = "published_at" | "sent_at"

/** The events whose time is a column of the recipient's row, by which they are found. */
export const STAMPED_EVENTS = {
  "outreach.recipients_published": "published_at",
  "outreach.email_sent": "sent_at",
} as const satisfies Readonly<Record<TypeAbout<"listed">, Stamp>> & { readonly [Type in TypeAbout<"one">]?: Stamp }

/** The event types that tell of one recipient, and are found by the index `events_of_recipient`. */
export const INDEXED_EVENTS: ReadonlyArray<string> = Object.entries(EVENT_RECIPIENTS).flatMap(([type, recipients]) =>
  recipients === "one" && !Object.hasOwn(STAMPED_EVENTS, type) ? [type] : [],
)

/** The condition of the index, as the planner can prove it. */
export const IN_EVENTS_OF_RECIPIENT = `type in (${INDEXED_EVENTS.map((type) => `'${type}'`).join(", ")})`
