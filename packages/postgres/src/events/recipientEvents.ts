import { EVENT_TYPES } from "@outreach/contract/names"
import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"

type Outgoing = typeof OUTGOING_EVENTS

/** The event types that are found by a timestamp column of the recipient's row. */
export const STAMPED_EVENTS = Object.fromEntries(
  Object.entries(OUTGOING_EVENTS).flatMap(([type, { stamp }]) => (stamp === null ? [] : [[type, stamp]])),
) as {
  readonly [Type in keyof Outgoing as Outgoing[Type]["stamp"] extends null ? never : Type]: Outgoing[Type]["stamp"]
}

/** The event types that are found by the index `events_of_recipient`. */
export const INDEXED_EVENTS: ReadonlyArray<string> = Object.entries(EVENT_TYPES).flatMap(([type, row]) =>
  "recipients" in row && row.recipients === "one" && !Object.hasOwn(STAMPED_EVENTS, type) ? [type] : [],
)

/** The condition of the partial index, in a form that the planner can prove. */
export const IN_EVENTS_OF_RECIPIENT = `type in (${INDEXED_EVENTS.map((type) => `'${type}'`).join(", ")})`
