import fc from "fast-check"
import { arbitraryOf } from "./arbitraryOf.ts"
import type { DocumentedOperation, Parameter } from "./document.ts"
import type { FuzzRequest } from "./FuzzRequest.ts"

/** Existing values by parameter name. */
export type Existing = Readonly<Record<string, ReadonlyArray<string>>>

/** Creates the arbitrary of requests that are valid according to the document. */
export const validRequest = (operation: DocumentedOperation, existing: Existing): fc.Arbitrary<FuzzRequest> => {
  const given = (place: Parameter["in"]) => {
    const parameters = operation.parameters.filter((parameter) => parameter.in === place && parameter.name !== "cursor")
    return fc.record(
      Object.fromEntries(parameters.map((parameter) => [parameter.name, validValue(parameter, existing)])),
      { requiredKeys: parameters.flatMap(({ name, required }) => (required ? name : [])), noNullPrototype: true },
    )
  }
  const schema = operation.requestBody?.content["application/json"].schema
  return fc
    .record({
      path: given("path"),
      query: given("query").chain((values) => shuffled(pairsOf(values))),
      headers: fc
        .tuple(given("header"), fc.constantFrom({}, { Accept: "*/*" }, { Accept: "text/html, application/json;q=0.5" }))
        .map(([asked, accept]) => ({ ...asked, ...accept }) as Record<string, string>),
      method: operation.method === "GET" ? fc.constantFrom("GET", "GET", "GET", "HEAD") : fc.constant(operation.method),
      body: schema === undefined ? fc.constant(undefined) : arbitraryOf(schema).map((body) => JSON.stringify(body)),
    })
    .map(({ path, query, headers, method, body }) => ({
      operation,
      method,
      path: pathOf(operation, path as Record<string, string>),
      query,
      headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
      bearer: "bearer" in (operation.security[0] ?? {}) ? "good" : "none",
      ...(body === undefined ? {} : { body }),
    }))
}

const pathOf = ({ path }: DocumentedOperation, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!))

const validValue = ({ name, in: place, schema }: Parameter, existing: Existing): fc.Arbitrary<unknown> => {
  // Spaces around a header's value aren't part of it (RFC 9110, 5.5); the document doesn't restrict tags.
  if (name === "If-None-Match") return fc.oneof(fc.constantFrom("*", '"x", W/"y"'), visible)
  if (place === "header") return arbitraryOf(schema).filter((text) => text === (text as string).trim())
  // The document describes the rejection of future dates only in prose.
  if (name === "date")
    return arbitraryOf(schema).filter((date) => (date as string) < new Date().toISOString().slice(0, 10))
  const known = existing[name]
  return known === undefined ? arbitraryOf(schema) : fc.oneof(arbitraryOf(schema), fc.constantFrom(...known))
}

const visible = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) })

const pairsOf = (values: Readonly<Record<string, unknown>>): Array<readonly [string, string]> =>
  Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as const))

const shuffled = <Item>(items: Array<Item>): fc.Arbitrary<Array<Item>> =>
  fc.shuffledSubarray(items, { minLength: items.length })
