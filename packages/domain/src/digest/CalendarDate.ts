import { CalendarDate as WireDate } from "@outreach/contract"
import { Schema } from "effect"

/** A UTC calendar date that exists, `2026-11-20`; two of them compare as texts. */
export const CalendarDate = Schema.String.check(Schema.makeFilter((text) => WireDate.safeParse(text).success)).pipe(
  Schema.annotate({ expected: "a date that exists, such as 2026-11-20" }),
  Schema.brand("CalendarDate"),
)
export type CalendarDate = typeof CalendarDate.Type
