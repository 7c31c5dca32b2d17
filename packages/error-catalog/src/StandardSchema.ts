/** A schema of Zod, Valibot, ArkType or another library that follows https://standardschema.dev, version 1. */
export interface StandardSchema<Input extends object = object, Output extends object = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** Required for OpenAPI. Libraries that implement Standard JSON Schema provide it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => JsonSchema }
  }
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<{ readonly message: string }> }

/** A JSON Schema of draft 2020-12, as used by OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Input type of a schema. */
export type InputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"]

/** Output type of a schema. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"]

/** Validates details. Returns a failure if the schema throws or is asynchronous. */
export function validate(schema: StandardSchema, details: unknown): SchemaResult<object> {
  try {
    const result = schema["~standard"].validate(details)
    if (!("then" in result)) return result
    // Zod starts a second, asynchronous validation after a throw. Unhandled, its rejection would end the process.
    result.then(undefined, () => undefined)
  } catch {}
  return { issues: [{ message: "their schema throws or is asynchronous" }] }
}
