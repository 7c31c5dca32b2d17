import type * as z from "zod"
import type { PartnerErrorCode } from "./catalogs.ts"
import type { ParameterCodes } from "./Operation.ts"

/** Why an input was refused: the code to answer, the parameter it is about, and a sentence that quotes no value. */
export interface Refusal {
  readonly code: PartnerErrorCode
  readonly parameter: string
  readonly message: string
}

/** A decoded value, or why there is none. */
export type Decoded<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal }

/** Query parameters as text: a list for a name that ends in `[]` or was given more than once. */
export type RawQuery = Readonly<Record<string, string | readonly string[]>>

/** Gathers percent-decoded query pairs, such as a `URLSearchParams`, into what an operation's `query` takes. */
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
 * The first fault decides: `MISSING_PARAMETER` for what is absent, else the parameter's own code among `codes`, else
 * `INVALID_PARAMETER`. `parameter` is the wire name, or a dotted path within a body; it is "body" for the body itself.
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
    // The name is the caller's own text, so only so much of it is echoed.
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
