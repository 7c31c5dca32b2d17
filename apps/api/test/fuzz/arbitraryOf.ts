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

const digits = (count: number, max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(count, "0"))

// Without the first and last years: an offset could leave the range.
const dates = fc
  .date({ min: new Date("0002-01-01T00:00:00Z"), max: new Date("9998-12-31T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

const times = fc.tuple(digits(2, 23), digits(2, 59), digits(2, 59)).map((parts) => parts.join(":"))
const fractions = fc.oneof(fc.constant(""), fc.stringMatching(/^\.\d{1,9}$/))
const offsets = fc.oneof(
  fc.constantFrom("Z", "z", "-00:00"),
  fc.tuple(fc.constantFrom("+", "-"), digits(2, 23), digits(2, 59)).map(([sign, h, m]) => `${sign}${h}:${m}`),
)

// All times allowed by RFC 3339, 5.6, including leap seconds.
const dateTimes = fc.oneof(
  {
    weight: 19,
    arbitrary: fc.tuple(dates, fc.constantFrom("T", "t"), times, fractions, offsets).map((parts) => parts.join("")),
  },
  { weight: 1, arbitrary: dates.map((date) => `${date}T23:59:60Z`) },
)

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "date-time": dateTimes,
  date: dates,
  email: fc.emailAddress(),
  uri: fc.webUrl(),
  uuid: fc.uuid(),
}
