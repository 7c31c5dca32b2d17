import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"

type Outgoing = typeof OUTGOING_EVENTS

/** The event types that are found by a timestamp column of the recipient's row. */
export const STAMPED_EVENTS = Object.fromEntries(
  Object.entries(OUTGOING_EVENTS).flatMap(([type, { isIndexed, stamp }]) => (isIndexed ? [] : [[type, stamp]])),
) as {
  readonly [Type in keyof Outgoing as Outgoing[Type]["isIndexed"] extends true ? never : Type]: Outgoing[Type]["stamp"]
}

/** The event types that are found by the index `events_of_recipient`. */
export const INDEXED_EVENTS: ReadonlyArray<string> = Object.entries(OUTGOING_EVENTS).flatMap(([type, { isIndexed }]) =>
  isIndexed ? [type] : [],
)

/** The condition of the partial index, in a form that the planner can prove. */
export const IN_EVENTS_OF_RECIPIENT = `type in (${INDEXED_EVENTS.map((type) => `'${type}'`).join(", ")})`
