import { Schema } from "effect"

/** Dates that don't exist, such as 2026-02-30, are read as later dates. */
const isCalendarDate = (text: string): boolean => {
  const at = /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** An existing UTC calendar date, `2026-11-20`; dates can be compared as text. Without the contract's schema, which `ops` doesn't load. */
export const CalendarDate = Schema.String.check(Schema.makeFilter(isCalendarDate)).pipe(
  Schema.annotate({ expected: "a date that exists, such as 2026-11-20" }),
  Schema.brand("CalendarDate"),
)
export type CalendarDate = typeof CalendarDate.Type

const DAY_MS = 86_400_000

export const addDays = (date: CalendarDate, days: number): CalendarDate =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10) as CalendarDate

export const dateAt = (millis: number): CalendarDate => new Date(millis).toISOString().slice(0, 10) as CalendarDate
