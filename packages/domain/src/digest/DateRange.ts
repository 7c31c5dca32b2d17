import { Result, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { CalendarDate } from "./CalendarDate.ts"

const DAY_MS = 86_400_000

/** A date from the database. `CalendarDate` validates input; this type avoids loading the validation for readers. */
export const ReadDate = Schema.String.pipe(Schema.brand("CalendarDate"))

export const addDays = (date: CalendarDate, days: number): CalendarDate =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10) as CalendarDate

export const dateAt = (millis: number): CalendarDate => new Date(millis).toISOString().slice(0, 10) as CalendarDate

export class UnusableRange extends DescribedError(
  "UnusableRange",
  "The last date must not be before the first, and the range may have at most {maxDates} dates.",
) {}

export const datesBetween = (
  first: CalendarDate,
  last: CalendarDate,
  maxDates: number,
): Result.Result<ReadonlyArray<CalendarDate>, UnusableRange> => {
  const length = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1
  return length < 1 || length > maxDates
    ? Result.fail(new UnusableRange({ maxDates }))
    : Result.succeed(Array.from({ length }, (_, n) => addDays(first, n)))
}
