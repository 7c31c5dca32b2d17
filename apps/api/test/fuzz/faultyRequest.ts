import fc from "fast-check"
import { arbitraryOf } from "./arbitraryOf.ts"
import { type DocumentedOperation, operationsAt, type Parameter } from "./document.ts"
import type { Bearer, FuzzRequest } from "./FuzzRequest.ts"
import { refusedBy } from "./refusedBy.ts"
import { type Existing, pathWith, validRequest } from "./validRequest.ts"

/** Expected error for a bad parameter. */
const invalid = (parameter: string, code = "INVALID_PARAMETER") => ({ status: 400, code, parameter })

const without = ({ query }: FuzzRequest, name: string) => query.filter((pair) => pair[0] !== name)

const missing =
  ({ name }: Parameter): Fault =>
  (request) =>
    fc.constant({ ...request, query: without(request, name), expected: invalid(name, "MISSING_PARAMETER") })

const repeated =
  ({ name, schema }: Parameter): Fault =>
  (request) =>
    fc.array(arbitraryOf(schema), { minLength: 2, maxLength: 4 }).map((values) => ({
      ...request,
      query: [...without(request, name), ...values.map((value) => [name, String(value)] as const)],
      expected: invalid(name),
    }))

// Parameters with their own error codes.
const CODES: Readonly<Record<string, string>> = {
  token: "INVALID_TOKEN",
  id: "INVALID_CAMPAIGN_ID",
  "expand[]": "INVALID_EXPAND",
  type: "INVALID_TYPE_FILTER",
  "types[]": "INVALID_TYPE_FILTER",
}

const wrongValue =
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

// No text is a cursor that was never issued. Cursors are read after the Idempotency-Key, which must be new.
const wrongCursor: Fault = (request) =>
  fc.string({ unit: "binary" }).map((value) => ({
    ...request,
    query: [...without(request, "cursor"), ["cursor", value] as const],
    headers: {},
    expected: invalid("cursor"),
  }))

const unknownParameter: Fault = (request) =>
  fc
    .oneof(
      fc.constantFrom("Since", "expand", "type[]", "types", "__proto__", "constructor", "toString", "expand[0]", ""),
      fc.string({ unit: "binary" }),
    )
    .filter((name) => !request.operation.parameters.some((parameter) => parameter.name === name))
    .map((name) => ({ ...request, query: [[name, ""] as const, ...request.query], expected: invalid(name) }))

/** A request with one fault, and the expected response. */
export interface FaultyRequest extends FuzzRequest {
  readonly expected: { readonly status: number; readonly code: string; readonly parameter?: string }
}

/** Creates the arbitrary of requests with one fault, from a valid request. */
export type Fault = (request: FuzzRequest) => fc.Arbitrary<FaultyRequest>

/** Creates the arbitrary of requests that are valid except for one fault. */
export const faultyRequest = (
  operation: DocumentedOperation,
  existing: Existing,
  served: boolean,
): fc.Arbitrary<FaultyRequest> =>
  validRequest(operation, existing)
    // A HEAD response has no error code.
    .map((request) => ({ ...request, method: operation.method }))
    .chain((request) => fc.oneof(...faultsOf(operation, served).map((fault) => fault(request))))

const faultsOf = (operation: DocumentedOperation, served: boolean): ReadonlyArray<Fault> => {
  const secured = "bearer" in (operation.security[0] ?? {})
  const everywhere = [wrongMethod, wrongPath, ...(secured ? [unauthorized, rateLimited] : [])]
  // Requests to a draft aren't validated.
  if (operation["x-draft"]) return everywhere
  const { parameters } = operation
  const required = parameters.filter(({ in: place, required }) => place === "query" && required)
  const single = parameters.filter(({ in: place, schema }) => place === "query" && schema.type !== "array")
  const checked = parameters.filter(({ in: place }) => place !== "header")
  return [
    ...everywhere,
    ...(operation.responses[403] ? [insufficientScope] : []),
    ...required.map(missing),
    ...single.map(repeated),
    ...checked.map((parameter) => (parameter.name === "cursor" ? wrongCursor : wrongValue(parameter))),
    ...(served && parameters.some(({ name }) => name === "Idempotency-Key") ? [wrongIdempotencyKey] : []),
    unknownParameter,
    notAcceptable,
    // The receiver looks up its endpoint before reading a body, and these endpoints don't exist.
    ...(operation.requestBody ? [] : [needlessBody]),
  ]
}

const wrongMethod: Fault = (request) => {
  const right = operationsAt(request.path).map(({ method }) => method)
  return fc
    .constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE")
    .filter((method) => !right.includes(method))
    .map((method) => ({ ...request, method, expected: { status: 405, code: "METHOD_NOT_ALLOWED" } }))
}

const wrongPath: Fault = (request) =>
  fc
    .constantFrom(
      `${request.path}/`,
      `${request.path}/x`,
      `/${request.path}`,
      `/v2${request.path.slice(3)}`,
      request.path.toUpperCase(),
      request.path.replace("/v1/", "/v1//"),
    )
    .filter((path) => operationsAt(path).length === 0)
    .map((path) => ({ ...request, path, expected: { status: 404, code: "NOT_FOUND" } }))

const unauthorized: Fault = (request) =>
  fc
    .oneof<fc.Arbitrary<Bearer>[]>(
      fc.constantFrom("none", "revoked"),
      fc
        .oneof(
          fc.constantFrom("", "Bearer", "Basic a2V5Og==", "Bearer a b", `Bearer orp_test_${"a".repeat(30)}_000000`),
          fc.stringMatching(/^Bearer [!-~]{1,60}$/),
        )
        .map((authorization) => ({ authorization })),
    )
    .map((bearer) => ({ ...request, bearer, expected: { status: 401, code: "UNAUTHORIZED" } }))

const rateLimited: Fault = (request) =>
  fc.constant({ ...request, bearer: "spent", expected: { status: 429, code: "RATE_LIMITED" } })

const insufficientScope: Fault = (request) =>
  fc.constant({ ...request, bearer: "scopeless", expected: { status: 403, code: "INSUFFICIENT_SCOPE" } })

const wrongHeader =
  (name: string, values: ReadonlyArray<string>, expected: FaultyRequest["expected"]): Fault =>
  (request) =>
    fc
      .constantFrom(...values)
      .map((value) => ({ ...request, headers: { ...request.headers, [name]: value }, expected }))

const wrongIdempotencyKey = wrongHeader(
  "Idempotency-Key",
  ["", "x".repeat(256), "é", "a\tb"],
  invalid("Idempotency-Key"),
)

const notAcceptable = wrongHeader(
  "Accept",
  ["text/html", "application/xml, text/*;q=0.5", "application/json;q=0", "*/*;q=0"],
  { status: 406, code: "NOT_ACCEPTABLE" },
)

const needlessBody: Fault = (request) =>
  fc
    .record({ body: fc.string({ minLength: 1 }), headers: fc.constantFrom({}, { "Transfer-Encoding": "chunked" }) })
    .map(({ body, headers }) => ({
      ...request,
      headers: { ...request.headers, ...headers },
      body,
      expected: invalid("body"),
    }))
