import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import type { JsonSchema } from "../../src/docs/schemaFields.ts"

const ajv = new Ajv2020({ allErrors: true, strictTypes: false })
addFormats.default(ajv)
// Keywords of OpenAPI that aren't keywords of JSON Schema.
ajv.addVocabulary(["openapi", "info", "servers", "tags", "paths", "webhooks", "components", "example", "discriminator"])
ajv.addSchema(openapi, "openapi.json")

const compiled = new Map<JsonSchema, ValidateFunction>()

/** Validates a value by a schema of the document. Returns the error; undefined if it is valid. */
export const complaintAbout = (schema: JsonSchema, value: unknown): string | undefined => {
  const validate = compiled.get(schema) ?? ajv.compile(absolute(schema))
  compiled.set(schema, validate)
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: "value" })
}

const absolute = (schema: JsonSchema): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi.json#/'))
