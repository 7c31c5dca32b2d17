import * as z from "zod"

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

const shape =
  /^(?<date>\d{4}-\d\d-\d\d)T(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?(?<offset>Z|[+-]\d\d:\d\d)?$/i

const wholeSeconds = z.iso.datetime({ precision: 0 })

/**
 * Converts a date-time with an offset to UTC text with six fraction digits, or returns a `problem` (a predicate without
 * subject). Fractions stay text, so that no digit passes through a `Date`; digits below a microsecond are cut off.
 */
function toUtc(text: string): { readonly utc: string } | { readonly problem: string } {
  if (/ \d\d:?\d\d$/.test(text)) {
    return { problem: "holds a space where the + of its offset should be: an unescaped + means a space, write %2B" }
  }
  const parts = shape.exec(text)?.groups
  if (!parts) return { problem: "must be an ISO 8601 date-time such as 2026-11-21T02:45:29Z" }
  const { date, hour, minute, second, fraction = "", offset } = parts as Record<string, string>
  if (offset === undefined) return { problem: "must end in Z or an offset such as +02:00" }
  if (fraction.length > 9) return { problem: "must have at most 9 fraction digits" }
  if (!wholeSeconds.safeParse(`${date}T${hour}:${minute}:${second}Z`).success) {
    return { problem: "must be a date and time that exist" }
  }
  const minutesEast = /z/i.test(offset) ? 0 : Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))
  if (Number(offset.slice(1, 3)) > 23 || Number(offset.slice(4)) > 59)
    return { problem: "must have an offset that exists" }

  // Only whole seconds pass through `Date`, which is exact for them.
  const calendar = new Date(`${date}T${hour}:${minute}:${second}Z`)
  calendar.setUTCMinutes(calendar.getUTCMinutes() - (offset.startsWith("-") ? -minutesEast : minutesEast))
  const year = calendar.getUTCFullYear()
  if (year < 1 || year > 9999) return { problem: "must be in the years 0001 to 9999 (UTC)" }
  return { utc: `${calendar.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, "0")}Z` }
}

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
