import { Cause, Exit, Result, Schema, SchemaIssue, SchemaParser } from "effect"

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

/** Creates a function that returns the reason why an input is invalid, or undefined. */
export const reasonNotValid = <A, I>(schema: Schema.Codec<A, I>): ((input: I) => string | undefined) => {
  const parse = parseInput(schema)
  return (input) => Result.match(parse(input), { onSuccess: () => undefined, onFailure: ({ reason }) => reason })
}

/** Returns the schema's annotations of an issue's first cause. */
const annotationsOf = (issue: SchemaIssue.Issue): Schema.Annotations.Issue => {
  if ("issue" in issue) return annotationsOf(issue.issue)
  if ("issues" in issue) return issue.issues[0] === undefined ? {} : annotationsOf(issue.issues[0])
  return ("annotations" in issue && issue.annotations) || {}
}
