import fc from "fast-check"
import { type DocumentedOperation, operationsAt } from "./document.ts"
import type { Bearer, FuzzRequest } from "./FuzzRequest.ts"
import { invalid, missing, repeated, unknownParameter, wrongCursor, wrongValue } from "./parameterFaults.ts"
import { type Existing, validRequest } from "./validRequest.ts"

/** A request with one fault, and the answer that this fault has to get. */
export interface FaultyRequest extends FuzzRequest {
  readonly expected: { readonly status: number; readonly code: string; readonly parameter?: string }
}

/** Creates the arbitrary of what one fault makes of a valid request. */
export type Fault = (request: FuzzRequest) => fc.Arbitrary<FaultyRequest>

/** Creates the arbitrary of requests that are valid but for one fault. */
export const faultyRequest = (
  operation: DocumentedOperation,
  existing: Existing,
  served: boolean,
): fc.Arbitrary<FaultyRequest> =>
  validRequest(operation, existing)
    // An answer to HEAD would not say its code.
    .map((request) => ({ ...request, method: operation.method }))
    .chain((request) => fc.oneof(...faultsOf(operation, served).map((fault) => fault(request))))

const faultsOf = (operation: DocumentedOperation, served: boolean): ReadonlyArray<Fault> => {
  const secured = "bearer" in (operation.security[0] ?? {})
  const everywhere = [wrongMethod, wrongPath, ...(secured ? [unauthorized, rateLimited] : [])]
  // Nothing is asked of a request to a draft.
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
    // The receiver looks its endpoint up before it reads a body, and these endpoints do not exist.
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
