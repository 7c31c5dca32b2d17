/** A schema of Zod, Valibot, ArkType or another library that follows https://standardschema.dev, version 1. */
export interface StandardSchema<Input extends object = object, Output extends object = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** What OpenAPI needs of it: the libraries that follow Standard JSON Schema have it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => JsonSchema }
  }
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<{ readonly message: string }> }

/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 holds it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What is written of the values of a schema. */
export type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"]

/** What is read of the values of a schema. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"]

/** Holds details against a schema; those of a schema that throws or is asynchronous do not fit it. */
export function validate(schema: StandardSchema, details: unknown): SchemaResult<object> {
  try {
    const result = schema["~standard"].validate(details)
    if (!("then" in result)) return result
    // Zod starts again asynchronously when it threw. That would end the process when nobody handles it.
    result.then(undefined, () => undefined)
  } catch {}
  return { issues: [{ message: "their schema throws or is asynchronous" }] }
}
