import type { ErrorCatalog } from "./ErrorCatalog.ts"
import type { ErrorCodes, ErrorTypes } from "./ErrorCodes.ts"
import type { JsonSchema } from "./StandardSchema.ts"

/** Options of `openapi`. */
export interface OpenApiOptions<Code extends string, Operation extends string, Context extends object> {
  /** Schema for every body, such as a `$ref`. Default: one component for each code. */
  readonly schema?: unknown
  /** Prefix of each component name. Default: empty. */
  readonly prefix?: string
  /** Context fields of the examples, such as a request id. */
  readonly context?: Context
  /** Returns the message of a code's example. Default: its title. */
  readonly message?: (code: Code) => string
  /** Returns the response headers for these codes. Default: `Retry-After` if one of them is retried after a wait. */
  readonly headers?: (codes: readonly Code[], operation: Operation) => object
}

/** The components, and the responses of each operation by status. */
export interface OpenApi<Operation extends string> {
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: object }>>
  }
  readonly responses: Readonly<Record<Operation, Readonly<Record<string, OpenApiResponse>>>>
}

/** A Response Object of OpenAPI 3.1. */
export interface OpenApiResponse {
  readonly description: string
  readonly headers: object
  readonly content: Readonly<
    Record<string, { readonly schema: unknown; readonly examples: Readonly<Record<string, { readonly $ref: string }>> }>
  >
}

/**
 * Describes a catalog's errors for OpenAPI 3.1: the responses of each operation by status, and the components they use.
 *
 * Without operations, returns the components of every code.
 */
export function openapi<Codes extends ErrorCodes, Context extends object, Operation extends string = never>(
  catalog: ErrorCatalog<ErrorTypes, Codes, Context>,
  operations?: Readonly<Record<Operation, ReadonlyArray<keyof Codes & string>>>,
  options: OpenApiOptions<keyof Codes & string, Operation, Context> = {},
): OpenApi<Operation> {
  const { types, codes, envelope, docUrl, body } = catalog as unknown as AnyCatalog
  const {
    schema,
    prefix = "",
    context,
    message,
    headers,
  } = options as unknown as OpenApiOptions<string, string, object>
  const used = new Set(operations ? [] : Object.keys(codes))
  const refTo = (kind: "schemas" | "examples", code: string) => ({ $ref: `#/components/${kind}/${prefix}${code}` })
  // A code with a details schema but no example has no valid example body.
  const hasExample = (code: string) => !codes[code]!.details || codes[code]!.example !== undefined

  const responseOf = (group: readonly string[], operation: string): OpenApiResponse => {
    for (const code of group) used.add(code)
    const refs = group.map((code) => refTo("schemas", code))
    return {
      description: group.map((code) => `\`${code}\`: ${codes[code]!.title.replace(/\.?$/, ".")}`).join(" "),
      headers: headers
        ? headers(group, operation)
        : group.some((code) => types[codes[code]!.type]!.retry === "after")
          ? { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } }
          : {},
      content: {
        [envelope.contentType]: {
          schema: schema ?? (refs.length > 1 ? { oneOf: refs } : refs[0]),
          examples: Object.fromEntries(group.filter(hasExample).map((code) => [code, refTo("examples", code)])),
        },
      },
    }
  }
  const responsesOf = ([operation, listed]: readonly [string, readonly string[]]) => {
    const known = Object.keys(codes).filter((code) => listed.includes(code))
    const statuses = [...new Set(known.map((code) => codes[code]!.status))].sort()
    const groups = statuses.map((status) => known.filter((code) => codes[code]!.status === status))
    return [
      operation,
      Object.fromEntries(groups.map((group, i) => [statuses[i], responseOf(group, operation)])),
    ] as const
  }
  const schemaOf = (code: string): JsonSchema => {
    const row = codes[code]!
    const { $schema, ...details } = row.details?.["~standard"].jsonSchema?.input({ target: "draft-2020-12" }) ?? {}
    return envelope.schema({ ...row, code, docUrl: docUrl(code) }, row.details && details)
  }

  const responses = Object.fromEntries(Object.entries<readonly string[]>(operations ?? {}).map(responsesOf))
  const named = <Value>(names: readonly string[], describe: (code: string) => Value) =>
    Object.fromEntries(names.map((code) => [prefix + code, describe(code)]))
  return {
    components: {
      schemas: schema ? {} : named([...used], schemaOf),
      examples: named([...used].filter(hasExample), (code) => ({
        summary: codes[code]!.title,
        value: body(code, { message: message?.(code), details: codes[code]!.example, ...context } as never),
      })),
    },
    responses: responses as OpenApi<Operation>["responses"],
  }
}

type AnyCatalog = ErrorCatalog<ErrorTypes, ErrorCodes>
