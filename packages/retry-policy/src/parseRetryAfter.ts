/** Reference time for a date in `Retry-After`. */
export interface RetryAfterOptions {
  /** The `Date` of the same response. Preferred, because clocks differ. */
  readonly date?: string | null | undefined
  /** Current Unix time in milliseconds, such as `Date.now`. */
  readonly now?: (() => number) | undefined
}

/**
 * Parses a `Retry-After` value (seconds or an HTTP date in any of its forms). Returns milliseconds.
 *
 * Returns 0 for a date in the past, and undefined for invalid values such as `-5`. Source: RFC 9110, 10.2.3 and 5.6.7.
 */
export function parseRetryAfter(
  value: string | null | undefined,
  { date, now = () => NaN }: RetryAfterOptions = {},
): number | undefined {
  const wait = /^\d+(\.\d+)?$/.test(value!) ? Number(value) * 1000 : parseDate(value) - (parseDate(date) || now())
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

// Date.parse reads "-5" as a month. One of the three date forms has no zone; it is UTC.
function parseDate(text: string | null | undefined): number {
  return /^[SMTWF].+:\d\d/.test(text!) ? Date.parse(text!.replace(/( GMT)?$/, " GMT")) : NaN
}
