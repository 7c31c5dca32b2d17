import { Schema } from "effect"

/**
 * A UTC time with microseconds, `2026-11-21T02:45:29.123456Z`.
 *
 * The database stores and compares times; they are passed as text, because a JavaScript `Date` would drop three digits.
 * Timestamps can be compared as text.
 */
export const Timestamp = Schema.TemplateLiteral([Schema.String, "Z"]).pipe(Schema.brand("Timestamp"))
export type Timestamp = typeof Timestamp.Type

/** Formats Unix milliseconds as a timestamp; the last three digits are zero. */
export const fromUnixMillis = (millis: number): Timestamp =>
  `${new Date(millis).toISOString().slice(0, -1)}000Z` as Timestamp

/** Converts a timestamp to Unix milliseconds, without microseconds. */
export const toUnixMillis = (timestamp: Timestamp): number => Date.parse(timestamp)

/** Formats a timestamp for operators, such as `2026-11-21 02:45 UTC`. */
export const minuteOf = (at: Timestamp): string => `${at.slice(0, 16).replace("T", " ")} UTC`
