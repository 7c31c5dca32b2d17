import { toUtc } from "@outreach/contract/toUtc"
import { Clock, Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { fromUnixMillis, Timestamp } from "./Timestamp.ts"

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
