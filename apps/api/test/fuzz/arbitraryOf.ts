import fc from "fast-check"
import type { JsonSchema } from "../../src/docs/schemaFields.ts"
import { resolve } from "./document.ts"

/** Creates the arbitrary of valid values of a schema. Throws on an unknown keyword. */
export const arbitraryOf = (given: JsonSchema): fc.Arbitrary<unknown> => {
  const schema = resolve(given)
  if ("const" in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(arbitraryOf))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => arbitraryOf({ ...schema, type })))
  switch (schema.type) {
    case "string":
      return textOf(schema)
    case "integer":
      return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1000 })
    case "number":
      return fc.double({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1000, noNaN: true })
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array":
      return fc.array(arbitraryOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, (schema.minItems ?? 0) + 5),
      })
    case "object": {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, arbitraryOf(field)] as const)
      return fc.record<Record<string, unknown>>(Object.fromEntries(fields), {
        requiredKeys: [...(schema.required ?? [])],
        noNullPrototype: true,
      })
    }
    case undefined:
      return fc.jsonValue()
    default:
      throw new Error(`no arbitrary for ${JSON.stringify(schema)}`)
  }
}

const textOf = ({ format, pattern, minLength = 0, maxLength = minLength + 20 }: JsonSchema): fc.Arbitrary<string> => {
  if (format !== undefined) {
    const formatted = formats[format]
    if (formatted === undefined) throw new Error(`no arbitrary for the format ${format}`)
    return pattern === undefined ? formatted : formatted.filter((text) => new RegExp(pattern).test(text))
  }
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  return fc.string({ unit: "binary", minLength, maxLength })
}

// Without the first and last years: an offset could leave the range.
const moments = fc
  .date({ min: new Date("0002-01-01T00:00:00Z"), max: new Date("9998-12-31T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString())
const dates = moments.map((text) => text.slice(0, 10))
const offsets = fc.oneof(fc.constantFrom("Z", "z", "-00:00"), fc.stringMatching(/^[+-](?:[01]\d|2[0-3]):[0-5]\d$/))
const dateTimes = fc
  .tuple(moments, fc.constantFrom("T", "t"), fc.stringMatching(/^(?:\.\d{1,9})?$/), offsets)
  .map(([moment, t, fraction, offset]) => `${moment.slice(0, 10)}${t}${moment.slice(11, 19)}${fraction}${offset}`)

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "date-time": dateTimes,
  date: dates,
  email: fc.emailAddress(),
  uri: fc.webUrl(),
  uuid: fc.uuid(),
}
