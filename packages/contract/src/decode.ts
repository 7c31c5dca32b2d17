import type * as z from "zod"
import type { PartnerErrorCode } from "./catalogs.ts"
import type { ParameterCodes } from "./Operation.ts"

/** Reason for rejecting an input: the error code, the parameter, and a message that quotes no value. */
export interface Refusal {
  readonly code: PartnerErrorCode
  readonly parameter: string
  readonly message: string
}

/** A decoded value, or the reason for rejecting it. */
export type Decoded<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal }

/** Query parameters as text; a list for names that end in `[]` or occur repeatedly. */
export type RawQuery = Readonly<Record<string, string | readonly string[]>>

/** Groups percent-decoded query pairs, such as a `URLSearchParams`, for an operation's `query` schema. */
export function rawQuery(pairs: Iterable<readonly [string, string]>): RawQuery {
  const values = new Map<string, string | string[]>()
  for (const [name, value] of pairs) {
    const before = values.get(name)
    if (Array.isArray(before)) before.push(value)
    else if (before !== undefined) values.set(name, [before, value])
    else values.set(name, name.endsWith("[]") ? [value] : value)
  }
  return Object.fromEntries(values)
}

/**
 * Decodes path parameters, a query or a body by its schema.
 *
 * Returns the first fault: `MISSING_PARAMETER` for a missing value, otherwise the parameter's own code in `codes` or
 * `INVALID_PARAMETER`. `parameter` is the wire name, a dotted path within a body, or "body".
 */
export function decode<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  codes: ParameterCodes = {},
): Decoded<z.output<Schema>> {
  const result = schema.safeParse(input)
  if (result.success) return { ok: true, value: result.data }
  const issue = result.error.issues[0]!

  const refuse = (code: PartnerErrorCode, parameter: string, message: string): Decoded<never> => ({
    ok: false,
    refusal: { code, parameter, message: `${parameter}: ${message}` },
  })

  if (issue.code === "unrecognized_keys") {
    // The name comes from the caller, so its length is limited.
    return refuse(
      "INVALID_PARAMETER",
      [...issue.path, issue.keys[0]!].join(".").slice(0, 100),
      "is not a known parameter",
    )
  }
  const parameter = issue.path.filter((part) => typeof part === "string").join(".") || "body"
  const given = issue.path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown>)?.[part], input)
  if (given === undefined && issue.path.length > 0) return refuse("MISSING_PARAMETER", parameter, "is required")
  if (Array.isArray(given) && (issue.code === "invalid_type" || issue.code === "invalid_value")) {
    return refuse("INVALID_PARAMETER", parameter, "must be a single value")
  }
  return refuse(Object.hasOwn(codes, parameter) ? codes[parameter]! : "INVALID_PARAMETER", parameter, issue.message)
}
