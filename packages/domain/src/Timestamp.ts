import { toUtc } from "@outreach/contract/toUtc"
import { Clock, Effect, Schema, SchemaGetter, SchemaIssue } from "effect"

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

/** A date-time with `Z` or an offset, converted to a timestamp as in the contract. */
export const Instant = Schema.String.pipe(
  Schema.decodeTo(Timestamp, {
    decode: SchemaGetter.transformEffect((text) => {
      const converted = toUtc(text)
      return "utc" in converted
        ? Effect.succeed(converted.utc as Timestamp)
        : Effect.fail(
            new SchemaIssue.InvalidValue({ expected: `a time such as 2026-12-01T09:00:00Z; it ${converted.problem}` }),
          )
    }),
    encode: SchemaGetter.passthrough(),
  }),
  Schema.annotate({ expected: "a time such as 2026-12-01T09:00:00Z" }),
)

const AGO = /^-(\d{1,4})([mhd])$/
const MINUTES: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 }

/** Returns whether a text is a duration before now, such as `-24h`. */
export const isAgo = (text = ""): boolean => AGO.test(text)

/** Accepts also a duration before now, so that the link to a list keeps its period. */
export const orAgo = <S extends typeof Instant | typeof PastInstant>(instant: S) =>
  Schema.String.pipe(
    Schema.decodeTo(instant, {
      decode: SchemaGetter.transformEffect((text: string) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          text.replace(AGO, (_, count, unit) => fromUnixMillis(now - count * MINUTES[unit]! * 60_000)),
        ),
      ),
      encode: SchemaGetter.passthrough(),
    }),
    Schema.annotate({ expected: "a time such as 2026-11-01T09:00:00Z, or before now such as -24h or -7d" }),
  )

/** A time that isn't in the future, for the start of a period: a later start would silently select or skip everything until then. */
export const PastInstant = Instant.pipe(
  Schema.decodeTo(Schema.toType(Timestamp), {
    decode: SchemaGetter.transformEffect((time) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        time <= fromUnixMillis(now)
          ? Effect.succeed(time)
          : Effect.fail(new SchemaIssue.InvalidValue({ expected: "a time that is not in the future" })),
      ),
    ),
    encode: SchemaGetter.passthrough(),
  }),
  Schema.annotate({ expected: "a time such as 2026-11-01T09:00:00Z that is not in the future" }),
)
