import { type EnvelopeOptions, type ErrorCodeDefinition, type ErrorEnvelope, envelope } from "./envelope.ts"

/** Whether a caller may send the same request again: never, once `Retry-After` has passed, or with exponential backoff. */
export type Retryability = "no" | "after_retry_after" | "backoff"

/** One row of a catalog's table of types. */
export interface ErrorTypeDefinition {
  readonly retryable: Retryability
}

/** The types of a catalog, by name. */
export type ErrorTypes = Readonly<Record<string, ErrorTypeDefinition>>

/** The codes of a catalog, by name; each has one of the catalog's types. */
export type ErrorCodes<Types extends ErrorTypes> = Readonly<Record<string, ErrorCodeDefinition<keyof Types & string>>>

type EnvelopeOf<Codes extends Readonly<Record<string, ErrorCodeDefinition>>, Code> = Code extends keyof Codes & string
  ? ErrorEnvelope<Code, Codes[Code]>
  : never

/** A catalog: its two tables, and functions bound to them that work detached from the object. */
export interface ErrorCatalog<Types extends ErrorTypes, Codes extends ErrorCodes<Types>> {
  readonly types: Types
  readonly codes: Codes
  /** Builds the body of an error response; throws `RangeError` on a code that the catalog lacks. */
  readonly envelope: <Code extends keyof Codes & string>(
    code: Code,
    options: EnvelopeOptions<Codes[Code]>,
  ) => EnvelopeOf<Codes, Code>
  /** Looks up the HTTP status of a code; throws `RangeError` on a code that the catalog lacks. */
  readonly httpStatus: <Code extends keyof Codes & string>(code: Code) => Codes[Code]["status"]
  /** Reports whether an error of this type may be retried; "no" for a type that the catalog lacks. */
  readonly retryability: (type: string) => Retryability
}

/**
 * Creates a catalog from its tables of types and codes.
 *
 * Throws `TypeError` on a code whose type is not among the types or whose status is outside 400–599.
 */
export function defineCatalog<const Types extends ErrorTypes, const Codes extends ErrorCodes<Types>>(tables: {
  readonly types: Types
  readonly codes: Codes
}): ErrorCatalog<Types, Codes> {
  const { types, codes } = tables
  for (const [code, { type, status }] of Object.entries(codes)) {
    if (!Object.hasOwn(types, type)) throw new TypeError(`${code} has the unknown type ${type}`)
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new TypeError(`${code} has the status ${status}, which is not an error status`)
    }
  }

  function definitionOf<Code extends keyof Codes & string>(code: Code): Codes[Code] {
    if (!Object.hasOwn(codes, code)) throw new RangeError("the catalog has no such code")
    return codes[code]
  }

  return {
    types,
    codes,
    envelope: <Code extends keyof Codes & string>(code: Code, options: EnvelopeOptions<Codes[Code]>) =>
      envelope(code, definitionOf(code), options) as EnvelopeOf<Codes, Code>,
    httpStatus: (code) => definitionOf(code).status,
    retryability: (type) => (Object.hasOwn(types, type) ? types[type]!.retryable : "no"),
  }
}
