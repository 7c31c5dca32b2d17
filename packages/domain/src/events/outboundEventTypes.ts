import { EVENT_DIRECTIONS } from "@outreach/contract/names"

/** The event types that an endpoint can receive. */
export const outboundEventTypes: ReadonlyArray<string> = Object.entries(EVENT_DIRECTIONS).flatMap(
  ([type, direction]) => (direction === "to_consumer" ? [type] : []),
)
