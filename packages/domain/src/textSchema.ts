import { Cause, Effect, Exit, Result, Schema, SchemaGetter, SchemaIssue, SchemaParser } from "effect"

/** Reason for an invalid input, without the input, which may be secret or personal. */
export interface NotValid {
  /** Describes a valid input, following "must be". */
  readonly expected: string
  /** The fault of this input; empty if the schema doesn't describe it. */
  readonly reason: string
}

/** Creates the parser of a schema. Its annotation `expected` describes a valid input. */
export const parseInput = <A, I>(schema: Schema.Codec<A, I>): ((input: I) => Result.Result<A, NotValid>) => {
  const decode = SchemaParser.decodeExit(schema)
  return (input) => {
    const exit = decode(input)
    if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
    const issue = Cause.squash(exit.cause)
    if (!SchemaIssue.isIssue(issue)) throw issue
    const { expected = expectedBy(schema), message: reason = "" } = annotationsOf(issue)
    return Result.fail({ expected, reason })
  }
}

export const expectedBy = (schema: Schema.Constraint): string => Schema.resolveAnnotations(schema)?.expected ?? ""

/** Returns the schema's annotations of an issue's first cause. */
const annotationsOf = (issue: SchemaIssue.Issue): Schema.Annotations.Issue => {
  if ("issue" in issue) return annotationsOf(issue.issue)
  if ("issues" in issue) return issue.issues[0] === undefined ? {} : annotationsOf(issue.issues[0])
  return ("annotations" in issue && issue.annotations) || {}
}

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

/** Creates the schema of a comma-separated list of known words without duplicates. */
export const commaSeparated = <Word extends string>(words: ReadonlyArray<Word>) =>
  textSchema(`one or more of ${words.join(", ")}, separated by commas`, (text): ReadonlyArray<Word> | undefined => {
    const parts = new Set(text.split(",").map((part) => part.trim()))
    const known = words.filter((word) => parts.has(word))
    return known.length === parts.size ? known : undefined
  })

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const MAX_SECONDS = 365 * 86_400

/** A duration such as `24h`, in seconds. */
export const Seconds = textSchema("a whole number and a unit of s, m, h or d, such as 24h; at most 365d", (text) => {
  const [, digits, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const value = Number(digits) * (UNITS[unit] ?? Number.NaN)
  return value <= MAX_SECONDS ? value : undefined
})

export const MAX_NAME_LENGTH = 200

/** Characters that change the writing direction: they could reverse the words of a page or an e-mail. */
const DIRECTION_MARK = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/

/** Throws `RangeError` if a name contains a writing-direction mark. */
export const assertNoDirectionMark = (name: string): void => {
  const mark = DIRECTION_MARK.exec(name)?.[0]
  if (mark === undefined) return
  const code = mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")
  throw new RangeError(`it contains a direction mark (U+${code}), which could reverse other words; remove it`)
}

/** A display name: trimmed, 1 to 200 characters, without writing-direction marks. */
export const DisplayName = textSchema(`1 to ${MAX_NAME_LENGTH} characters on one line`, (text) => {
  const name = text.trim()
  assertNoDirectionMark(name)
  return name !== "" && name.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(name) ? name : undefined
})
