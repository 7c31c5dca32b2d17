import { Effect } from "effect"
import { parsedFlag } from "./parsedInput.ts"

// Loaded when a flag is given, because the contract's schemas take a fifth of the CPU time of a short command.
const CalendarDate = Effect.promise(async () => (await import("@outreach/domain/digest/CalendarDate")).CalendarDate)
const Instant = Effect.promise(async () => (await import("@outreach/domain/Instant")).Instant)

/** Creates a flag for a calendar date. */
export const calendarDate = (name: string, description: string) => parsedFlag(name, CalendarDate, description)

/** Creates a flag for a date-time with `Z` or an offset, converted to UTC. */
export const instant = (name: string, description: string) => parsedFlag(name, Instant, description)
