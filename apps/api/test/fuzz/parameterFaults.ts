import fc from "fast-check"
import { arbitraryOf } from "./arbitraryOf.ts"
import type { Parameter } from "./document.ts"
import type { FuzzRequest } from "./FuzzRequest.ts"
import type { Fault } from "./faultyRequest.ts"
import { refusedBy } from "./refusedBy.ts"
import { pathWith } from "./validRequest.ts"

/** The answer to a bad parameter. */
export const invalid = (parameter: string, code = "INVALID_PARAMETER") => ({ status: 400, code, parameter })

const without = ({ query }: FuzzRequest, name: string) => query.filter((pair) => pair[0] !== name)

export const missing =
  ({ name }: Parameter): Fault =>
  (request) =>
    fc.constant({ ...request, query: without(request, name), expected: invalid(name, "MISSING_PARAMETER") })

export const repeated =
  ({ name, schema }: Parameter): Fault =>
  (request) =>
    fc.array(arbitraryOf(schema), { minLength: 2, maxLength: 4 }).map((values) => ({
      ...request,
      query: [...without(request, name), ...values.map((value) => [name, String(value)] as const)],
      expected: invalid(name),
    }))

// The catalogue of errors gives these parameters codes of their own.
const CODES: Readonly<Record<string, string>> = {
  token: "INVALID_TOKEN",
  id: "INVALID_CAMPAIGN_ID",
  "expand[]": "INVALID_EXPAND",
  type: "INVALID_TYPE_FILTER",
  "types[]": "INVALID_TYPE_FILTER",
}

export const wrongValue =
  ({ name, in: place, schema }: Parameter): Fault =>
  (request) => {
    const expected = invalid(name, CODES[name])
    if (place === "path") {
      const values = refusedBy(schema).filter((value) => value !== "")
      return values.map((value) => ({ ...request, path: pathWith(request, name, value), expected }))
    }
    const values = refusedBy(schema.items ?? schema)
    return values.map((value) => {
      const others = schema.items ? request.query : without(request, name)
      return { ...request, query: [...others, [name, value] as const], expected }
    })
  }

// No text is a cursor that was never given. It is read behind the Idempotency-Key, which must not have been given before.
export const wrongCursor: Fault = (request) =>
  fc.string({ unit: "binary" }).map((value) => ({
    ...request,
    query: [...without(request, "cursor"), ["cursor", value] as const],
    headers: {},
    expected: invalid("cursor"),
  }))

export const unknownParameter: Fault = (request) =>
  fc
    .oneof(
      fc.constantFrom("Since", "expand", "type[]", "types", "__proto__", "constructor", "toString", "expand[0]", ""),
      fc.string({ unit: "binary" }),
    )
    .filter((name) => !request.operation.parameters.some((parameter) => parameter.name === name))
    .map((name) => ({ ...request, query: [[name, ""] as const, ...request.query], expected: invalid(name) }))
