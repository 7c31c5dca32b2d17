/** Milliseconds, or a whole number with its unit, such as `500ms`, `30s`, `10m`, `6h` or `14d`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 }

/**
 * Returns the milliseconds of a duration: text such as `500ms` or `14d`, or milliseconds as a number, at most 366 days.
 *
 * Throws `RangeError` on anything else; `name` begins its message.
 */
export function parseDuration(duration: number | string, name = "duration"): number {
  const [, digits, unit = ""] = /^(\d+)(ms|[smhd])$/.exec(duration as string) ?? []
  const milliseconds = typeof duration === "number" ? duration : Number(digits) * UNITS[unit]!
  if (milliseconds >= 0 && milliseconds <= 366 * UNITS["d"]!) return milliseconds
  const given = typeof duration === "string" ? JSON.stringify(duration.slice(0, 20)) : String(duration)
  throw new RangeError(`${name}, ${given}, is not a whole number of ms, s, m, h or d, such as 30s, up to 366d`)
}
