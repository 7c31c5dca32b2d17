/** The kind of value a detail holds, named as `typeof` names it. */
export type DetailKind = "string" | "number" | "boolean"

/** One row of a catalog's table of codes. */
export interface ErrorCodeDefinition<Type extends string = string> {
  /** The error type that callers branch on. */
  readonly type: Type
  /** HTTP status of the response, 400–599. */
  readonly status: number
  /** When the code is answered, in Markdown, for the published guide. */
  readonly condition: string
  /** Keys that `details` must hold for this code, beside any others; without it `details` is optional. */
  readonly details?: Readonly<Record<string, DetailKind>>
}

/** Free-form details of an error. */
export type ErrorDetails = Readonly<Record<string, unknown>>

interface DetailValues {
  readonly string: string
  readonly number: number
  readonly boolean: boolean
}

type RequiredDetails<Shape extends Readonly<Record<string, DetailKind>>> = ErrorDetails & {
  readonly [Key in keyof Shape]: DetailValues[Shape[Key]]
}

type DetailsOption<Definition> = Definition extends { readonly details: infer Shape extends Record<string, DetailKind> }
  ? { readonly details: RequiredDetails<Shape> }
  : { readonly details?: ErrorDetails | null | undefined }

// A code known only as a union must satisfy what each of its members requires, hence the intersection.
type EveryDetailsOption<Definition> = (
  Definition extends unknown
    ? (option: DetailsOption<Definition>) => void
    : never
) extends (option: infer Option) => void
  ? Option
  : never

/** What one occurrence of an error adds to its code; `details` is required where the code's definition names its keys. */
export type EnvelopeOptions<Definition extends ErrorCodeDefinition> = EveryDetailsOption<Definition> & {
  /** Text for a human; never a secret, an e-mail address or the caller's body. */
  readonly message: string
  /** The value of the `X-Request-Id` response header. */
  readonly requestId: string
  /** Address of the published guides, with or without a trailing slash. */
  readonly docsUrl: string
}

/** The body of an error response. */
export interface ErrorEnvelope<Code extends string, Definition extends ErrorCodeDefinition> {
  readonly error: {
    readonly type: Definition["type"]
    readonly code: Code
    readonly message: string
    readonly details: Definition extends { readonly details: infer Shape extends Record<string, DetailKind> }
      ? RequiredDetails<Shape>
      : ErrorDetails | null
    readonly doc_url: string
    readonly request_id: string
  }
}

/** Builds the body of an error response; details not given are null. */
export function envelope<Code extends string, Definition extends ErrorCodeDefinition>(
  code: Code,
  definition: Definition,
  options: EnvelopeOptions<Definition>,
): ErrorEnvelope<Code, Definition> {
  const { message, requestId, docsUrl, details = null } = options as EnvelopeOptions<ErrorCodeDefinition>
  return {
    error: {
      type: definition.type,
      code,
      message,
      details: details as ErrorEnvelope<Code, Definition>["error"]["details"],
      doc_url: `${docsUrl.replace(/\/+$/, "")}/errors#${code}`,
      request_id: requestId,
    },
  }
}
