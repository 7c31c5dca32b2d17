const shape =
  /^(?<date>\d{4}-\d\d-\d\d)T(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?(?<offset>Z|[+-]\d\d:\d\d)?$/i

/**
 * Converts a date-time with an offset to UTC text with six fraction digits, or returns a `problem` (a predicate without
 * subject). Fractions stay text, so that no digit passes through a `Date`; digits below a microsecond are cut off.
 */
export function toUtc(text: string): { readonly utc: string } | { readonly problem: string } {
  if (/ \d\d:?\d\d$/.test(text)) {
    return { problem: "holds a space where the + of its offset should be: an unescaped + means a space, write %2B" }
  }
  const parts = shape.exec(text)?.groups
  if (!parts) return { problem: "must be an ISO 8601 date-time such as 2026-11-21T02:45:29Z" }
  const { date, hour, minute, second, fraction = "", offset } = parts as Record<string, string>
  if (offset === undefined) return { problem: "must end in Z or an offset such as +02:00" }
  if (fraction.length > 9) return { problem: "must have at most 9 fraction digits" }
  const wholeSeconds = `${date}T${hour}:${minute}:${second}`
  const calendar = new Date(`${wholeSeconds}Z`)
  // A day that doesn't exist in its month becomes one of the next.
  if (Number.isNaN(calendar.getTime()) || !calendar.toISOString().startsWith(wholeSeconds)) {
    return { problem: "must be a date and time that exist" }
  }
  const minutesEast = /z/i.test(offset) ? 0 : Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))
  if (Number(offset.slice(1, 3)) > 23 || Number(offset.slice(4)) > 59)
    return { problem: "must have an offset that exists" }

  // Only whole seconds pass through `Date`, which is exact for them.
  calendar.setUTCMinutes(calendar.getUTCMinutes() - (offset.startsWith("-") ? -minutesEast : minutesEast))
  const year = calendar.getUTCFullYear()
  if (year < 1 || year > 9999) return { problem: "must be in the years 0001 to 9999 (UTC)" }
  return { utc: `${calendar.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, "0")}Z` }
}
