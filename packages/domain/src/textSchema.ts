import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { expectedBy } from "./parseInput.ts"

/**
 * Creates the schema of values parsed from text. The parser returns undefined for invalid text, and may
 * throw a `RangeError` with the reason, which must not contain a secret.
 */
export const textSchema = <A>(expected: string, parse: (text: string) => A | undefined): Schema.Codec<A, string> =>
  Schema.String.pipe(
    Schema.decodeTo(Schema.Unknown as unknown as Schema.Codec<A>, {
      decode: SchemaGetter.transformEffect((text) => {
        try {
          const value = parse(text)
          return value === undefined ? Effect.fail(new SchemaIssue.InvalidValue()) : Effect.succeed(value)
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
          return Effect.fail(new SchemaIssue.InvalidValue({ message: error.message }))
        }
      }),
      encode: SchemaGetter.forbiddenEncoding,
    }),
    Schema.annotate({ expected }),
  )

export const wholeNumber = (least: number, most: number, noun = "a whole number"): Schema.Codec<number, string> =>
  textSchema(`${noun} from ${least} to ${most}`, (text) =>
    /^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
  )

/** Creates the schema of `none` (null) and of another schema's values. */
export const noneOr = <A>(
  schema: Schema.Codec<A, string>,
  expected: string = expectedBy(schema),
): Schema.Codec<A | null, string> =>
  Schema.Union([textSchema("none", (text) => (text === "none" ? null : undefined)), schema]).annotate({ expected })
