import { CalendarDate as WireDate } from "@outreach/contract"
import { Schema } from "effect"

/** An existing UTC calendar date, `2026-11-20`; dates can be compared as text. */
export const CalendarDate = Schema.String.check(Schema.makeFilter((text) => WireDate.safeParse(text).success)).pipe(
  Schema.annotate({ expected: "a date that exists, such as 2026-11-20" }),
  Schema.brand("CalendarDate"),
)
export type CalendarDate = typeof CalendarDate.Type
