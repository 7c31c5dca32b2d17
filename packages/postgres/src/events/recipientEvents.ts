import { EVENT_RECIPIENTS } from "@outreach/contract/names"
import type { OutreachEventType } from "@outreach/domain/events/Event"

type TypeAbout<Recipients> = {
  [Type in OutreachEventType]: (typeof EVENT_RECIPIENTS)[Type] extends Recipients ? Type : never
}[OutreachEventType]
type Stamp = "published_at" | "sent_at"

/** The event types that are found by a timestamp column of the recipient's row. */
export const STAMPED_EVENTS = {
  "outreach.recipients_published": "published_at",
  "outreach.email_sent": "sent_at",
} as const satisfies Readonly<Record<TypeAbout<"listed">, Stamp>> & { readonly [Type in TypeAbout<"one">]?: Stamp }

/** The event types about one recipient, which the index `events_of_recipient` contains. */
export const INDEXED_EVENTS: ReadonlyArray<string> = Object.entries(EVENT_RECIPIENTS).flatMap(([type, recipients]) =>
  recipients === "one" && !Object.hasOwn(STAMPED_EVENTS, type) ? [type] : [],
)

/** The condition of the partial index, in a form that the planner can prove. */
export const IN_EVENTS_OF_RECIPIENT = `type in (${INDEXED_EVENTS.map((type) => `'${type}'`).join(", ")})`
