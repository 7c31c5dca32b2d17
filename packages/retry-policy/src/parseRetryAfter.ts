/** What a date in `Retry-After` is counted from. */
export interface RetryAfterOptions {
  /** The same response's `Date`, which has preference, because clocks differ. */
  readonly date?: string | null | undefined
  /** The present in Unix milliseconds, such as `Date.now`. */
  readonly now?: (() => number) | undefined
}

/**
 * Reads a value of `Retry-After`, seconds or an HTTP date in any of its forms, and returns milliseconds.
 *
 * Returns 0 for a date that has passed, and undefined for what is neither, such as `-5`. Source: RFC 9110, 10.2.3 and 5.6.7.
 */
export function parseRetryAfter(
  value: string | null | undefined,
  { date, now = () => NaN }: RetryAfterOptions = {},
): number | undefined {
  const wait = /^\d+(\.\d+)?$/.test(value!) ? Number(value) * 1000 : parseDate(value) - (parseDate(date) || now())
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

// Date.parse alone takes "-5" for a month. One of the three forms names no zone, and means UTC all the same.
function parseDate(text: string | null | undefined): number {
  return /^[SMTWF].+:\d\d/.test(text!) ? Date.parse(text!.replace(/( GMT)?$/, " GMT")) : NaN
}
