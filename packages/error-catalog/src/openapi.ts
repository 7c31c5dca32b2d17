import type { ErrorCatalog } from "./ErrorCatalog.ts"
import type { ErrorCodes, ErrorTypes } from "./ErrorCodes.ts"
import type { JsonSchema, StandardSchema } from "./StandardSchema.ts"

/** Options of `openapi`. */
export interface OpenApiOptions<Code extends string, Operation extends string, Context extends object> {
  /** Schema for every body, such as a `$ref`. Default: one component for each code. */
  readonly schema?: unknown
  /** Converts a schema of details to JSON Schema (draft 2020-12). Default: its `~standard.jsonSchema`. */
  readonly toJsonSchema?: (schema: StandardSchema) => JsonSchema
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
 * Without operations, returns the components of every code. Throws `TypeError` that names the code if the schema of its details
 * can't be converted.
 */
export function openapi<Codes extends ErrorCodes, Context extends object, Operation extends string = never>(
  catalog: ErrorCatalog<ErrorTypes, Codes, Context>,
  operations?: Readonly<Record<Operation, ReadonlyArray<keyof Codes & string>>>,
  options: OpenApiOptions<keyof Codes & string, Operation, Context> = {},
): OpenApi<Operation> {
  const { types, codes, envelope, docUrl, body } = catalog as unknown as AnyCatalog
  const { schema, toJsonSchema = toStandardJsonSchema, prefix = "", ...values } = options as unknown as AnyOptions
  const { context, message, headers } = values
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
    const responses = groups.map((group, i) => [statuses[i], responseOf(group, operation)])
    return [operation, Object.fromEntries(responses)] as const
  }
  const schemaOf = (code: string): JsonSchema => {
    const row = codes[code]!
    try {
      const details = row.details && inlineDefinitions(toJsonSchema(row.details))
      return envelope.schema({ ...row, code, docUrl: docUrl(code) }, details)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : cause
      throw new TypeError(`details of ${code} can't be described: ${reason}`, { cause })
    }
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

function toStandardJsonSchema({ "~standard": { vendor, jsonSchema } }: StandardSchema): JsonSchema {
  if (jsonSchema) return jsonSchema.input({ target: "draft-2020-12" })
  throw new TypeError(`${vendor} provides no ~standard.jsonSchema, so pass the option toJsonSchema`)
}

/** Replaces references to definitions, because `#` is the whole document in OpenAPI. Throws `TypeError` on any other reference to it. */
function inlineDefinitions({ $schema, $defs = {}, ...schema }: JsonSchema, path: readonly string[] = []): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_, node) => {
    const { $ref, ...rest } = node ?? {}
    if (typeof $ref !== "string" || !$ref.startsWith("#")) return node
    const definition = ($defs as Readonly<Record<string, JsonSchema>>)[$ref.replace("#/$defs/", "")]
    if (!definition || path.includes($ref))
      throw new TypeError(`the schema is recursive (${$ref}), so pass the option schema`)
    return { ...inlineDefinitions({ ...definition, $defs }, [...path, $ref]), ...rest }
  })
}

type AnyCatalog = ErrorCatalog<ErrorTypes, ErrorCodes>
type AnyOptions = OpenApiOptions<string, string, object>
