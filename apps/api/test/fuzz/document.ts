import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import type { JsonSchema } from "../../src/docs/schemaFields.ts"

export interface Parameter {
  readonly in: "path" | "query" | "header"
  readonly name: string
  readonly required?: boolean
  readonly schema: JsonSchema
}

export interface DocumentedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: JsonSchema } } }
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

export const documented: ReadonlyArray<DocumentedOperation> = Object.entries(openapi.paths as unknown as Paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      parameters: (operation.parameters ?? []).map(resolve),
    })),
)
