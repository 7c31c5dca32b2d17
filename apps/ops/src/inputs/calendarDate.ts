import { operations } from "@outreach/contract"
import type { CalendarDate } from "@outreach/domain/digest/Digest"
import { Option } from "effect"

const { date } = operations.getDigest.query.shape

/** Reads a calendar date as the API does; to be spread into `filterMap` of a flag. */
export const calendarDate = [
  (text: string): Option.Option<CalendarDate> => Option.fromNullishOr(date.safeParse(text).data),
  () => "a date that exists, such as 2026-11-20",
] as const
