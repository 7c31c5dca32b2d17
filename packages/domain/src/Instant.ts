import { Since } from "@outreach/contract"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { Timestamp } from "./Timestamp.ts"

/** A date-time with `Z` or an offset, converted to a timestamp as the contract does. */
export const Instant = Schema.String.pipe(
  Schema.decodeTo(Timestamp, {
    decode: SchemaGetter.transformEffect((text) => {
      const { data, error } = Since.safeParse(text)
      const expected = `a time such as 2026-12-01T09:00:00Z; it ${error?.issues[0]?.message}`
      return error === undefined
        ? Effect.succeed(data as Timestamp)
        : Effect.fail(new SchemaIssue.InvalidValue({ expected }))
    }),
    encode: SchemaGetter.passthrough(),
  }),
  Schema.annotate({ expected: "a time such as 2026-12-01T09:00:00Z" }),
)
