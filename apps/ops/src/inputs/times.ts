import { Effect } from "effect"
import { flag, optional } from "./Input.ts"

// Loaded when a flag is given, because the contract's schemas take a fifth of the CPU time of a short command.
const CalendarDate = Effect.promise(async () => (await import("@outreach/domain/digest/CalendarDate")).CalendarDate)
const Instant = Effect.promise(async () => (await import("@outreach/domain/Instant")).Instant)

export const calendarDate = (description: string) => flag(CalendarDate, description)

/** A flag for a date-time with `Z` or an offset, converted to UTC. */
export const instant = (description: string) => flag(Instant, description)

/** `--from` and `--to`, which select by time: `Only those created`. */
export const period = (selected: string, more = "") => ({
  from: optional(instant(`${selected} at this time or later, such as 2026-12-01T09:00:00Z`)),
  to: optional(instant(`${selected} before this time${more}`)),
})

/** The second part of `period`, for lists whose last row is the oldest. */
export const CONTINUES = "; to continue a list, give the last row's time"
