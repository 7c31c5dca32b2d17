import { EVENT_DIRECTIONS } from "@outreach/contract/names"

export const outboundEventTypes: ReadonlyArray<string> = Object.entries(EVENT_DIRECTIONS).flatMap(
  ([type, direction]) => (direction === "to_consumer" ? [type] : []),
)
