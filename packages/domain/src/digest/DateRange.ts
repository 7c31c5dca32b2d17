import type { CalendarDate } from "./CalendarDate.ts"

const DAY_MS = 86_400_000

export const addDays = (date: CalendarDate, days: number): CalendarDate =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10) as CalendarDate

export const dateAt = (millis: number): CalendarDate => new Date(millis).toISOString().slice(0, 10) as CalendarDate
