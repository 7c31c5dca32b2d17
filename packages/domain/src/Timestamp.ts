import { Schema } from "effect"

/**
 * An instant in UTC with microseconds, `2026-11-21T02:45:29.123456Z`.
 *
 * The database keeps and compares instants; this text is how they cross, because a JavaScript `Date` would drop three digits.
 * Two of them compare as texts.
 */
export const Timestamp = Schema.TemplateLiteral([Schema.String, "Z"]).pipe(Schema.brand("Timestamp"))
export type Timestamp = typeof Timestamp.Type

/** Renders Unix milliseconds as a timestamp; the last three digits are zero. */
export const fromUnixMillis = (millis: number): Timestamp =>
  `${new Date(millis).toISOString().slice(0, -1)}000Z` as Timestamp

/** Reads a timestamp as Unix milliseconds; microseconds are cut off. */
export const toUnixMillis = (timestamp: Timestamp): number => Date.parse(timestamp)
