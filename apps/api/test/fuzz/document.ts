import openapi from "@outreach/contract/openapi.json" with { type: "json" }

/** The subset of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
}

export interface Parameter {
  readonly in: "path" | "query" | "header"
  readonly name: string
  readonly required?: boolean
  readonly schema: Schema
}

export interface DocumentedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } }
  readonly responses: Readonly<Record<string, object>>
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly "x-draft"?: true
}

/** Resolves references; keywords next to a reference also apply. */
export const resolve = <Node extends object>(node: Node): Node => {
  if (!("$ref" in node)) return node
  const { $ref, ...beside } = node
  const steps = ($ref as string).split("/").slice(1)
  const target = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], openapi)
  return { ...resolve(target as Node), ...beside }
}

type Paths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>

/** All operations of the document. */
export const documented: ReadonlyArray<DocumentedOperation> = Object.entries(openapi.paths as unknown as Paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      parameters: (operation.parameters ?? []).map(resolve),
    })),
)

/** Finds the operations of a path, for all methods. */
export const operationsAt = (target: string): ReadonlyArray<DocumentedOperation> => {
  const path = target.split("?")[0]!
  return documented.filter((operation) => new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, "[^/]*")}$`).test(path))
}
