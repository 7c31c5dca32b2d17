import * as z from "zod"
import { toUtc } from "./toUtc.ts"

const inYearOneOrLater = (text: string): boolean => !text.startsWith("0000")

/** A time emitted by the service: UTC with six fraction digits, `2026-11-21T02:45:29.123456Z`. */
export const Timestamp = z.iso
  .datetime({ precision: 6 })
  .refine(inYearOneOrLater, "must be in the years 0001 to 9999")
  .meta({ id: "Timestamp", description: "UTC date-time with microseconds.", example: "2026-11-21T02:45:29.123456Z" })

// RFC 3339, 5.6, also allows lowercase t and z. Rejecting them would lose the sender's event, because a 400 isn't retried.
const dateTimeWithOffset = new RegExp(z.regexes.datetime({ offset: true }).source, "i")

/** A time accepted in a body: any ISO 8601 date-time with `Z` or an offset, stored as received. */
export const Instant = z
  .string()
  .regex(dateTimeWithOffset, "must be an ISO 8601 date-time with Z or an offset")
  .refine(inYearOneOrLater, "must be in the years 0001 to 9999")
  .meta({
    id: "Instant",
    description: "ISO 8601 date-time with `Z` or an offset.",
    format: "date-time",
    example: "2026-11-21T02:45:29Z",
    // The format would also allow leap seconds and the year 0.
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      Object.assign(jsonSchema, {
        pattern: "^(?!0000)\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$",
      })
    },
  })

/** An existing calendar date, `YYYY-MM-DD`. */
export const CalendarDate = z.iso
  .date("must be a calendar date, YYYY-MM-DD")
  .refine(inYearOneOrLater, "must be in the years 0001 to 9999")
  .meta({ id: "CalendarDate", description: "UTC calendar date.", example: "2026-11-20" })

/** The `since` parameter: a date-time with `Z` or an offset, decoded to UTC text with six fraction digits. */
export const Since = z
  .string()
  .transform((text, context) => {
    const result = toUtc(text)
    if ("utc" in result) return result.utc
    context.issues.push({ code: "custom", message: result.problem, input: text })
    return z.NEVER
  })
  .meta({
    description:
      "Inclusive lower bound: a date-time with `Z` or an offset and at most nine fraction digits, of which those below a microsecond are cut off. Write the `+` of an offset as `%2B`.",
    format: "date-time",
    example: "2026-11-21T02:45:29.123456Z",
    // The format would also allow more fraction digits and leap seconds.
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      Object.assign(jsonSchema, {
        pattern: "^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)$",
      })
    },
  })
