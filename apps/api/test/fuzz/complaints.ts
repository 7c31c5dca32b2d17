import { complaintAbout } from "./complaintAbout.ts"
import { type DocumentedOperation, type DocumentedResponse, operationsAt, resolve } from "./document.ts"

/** An answer, as far as the document speaks of it. */
export interface FuzzAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Lists what the document does not allow in the answer to a request; nothing when it conforms. `served` are operation ids. */
export const complaints = (
  { method, target }: { readonly method: string; readonly target: string },
  { status, headers, body }: FuzzAnswer,
  served: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const found: Array<string> = []
  const requestId = headers.get("X-Request-Id")
  if (!/^req_[0-9a-f]{32}$/.test(requestId ?? "")) found.push(`X-Request-Id is ${requestId}`)
  if (status === 204 && method === "OPTIONS") {
    if (headers.get("Allow") === null || body !== "") found.push("204 without Allow, or with a body")
    return found
  }

  const parsed = body === "" ? undefined : JSON.parse(body)
  const operation =
    parsed?.error?.details?.parameter === "request"
      ? undefined
      : operationsAt(target).find((row) => row.method === (method === "HEAD" ? "GET" : method))
  const isLegacy = LEGACY_PATH.test(`${target.split("?")[0]}/`)
  const response =
    status === 405 && isLegacy ? methodNotAllowed("LegacyError") : documentedResponse(operation, status, served)
  if (response === undefined) return [...found, `${status} is not documented`]
  for (const name of RATE_LIMIT_HEADERS) {
    if (headers.get(name) !== null && !(name in (response.headers ?? {}))) found.push(`${name} is not documented`)
  }
  for (const [name, reference] of Object.entries(response.headers ?? {})) {
    const header = resolve(reference)
    const value = headers.get(name)
    if (value === null && header.required) found.push(`${name} is missing`)
    const complaint = value !== null && complaintAbout(header.schema, /^\d+$/.test(value) ? Number(value) : value)
    if (complaint) found.push(`${name}: ${complaint}`)
  }

  if (response.content === undefined) return body === "" ? found : [...found, `${status} has a body`]
  if (headers.get("Content-Type") !== "application/json") found.push(`Content-Type is ${headers.get("Content-Type")}`)
  if (method === "HEAD") return body === "" ? found : [...found, "HEAD is answered with a body"]
  const { schema, examples } = response.content["application/json"]
  const complaint = complaintAbout(schema, parsed)
  if (complaint) found.push(complaint)
  if (status < 400) return found
  const { code, request_id } = parsed.error
  if (examples && !(code in examples)) found.push(`${status} ${code} is not documented`)
  if (request_id !== undefined && request_id !== requestId) found.push("request_id is not the header's")
  return found
}

const RATE_LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]

const general = (codes: ReadonlyArray<string>, envelope = "PartnerError"): DocumentedResponse => ({
  headers: Object.fromEntries(
    ["X-Request-Id", ...RATE_LIMIT_HEADERS].map((name) => [name, { $ref: `#/components/headers/${name}`, schema: {} }]),
  ),
  content: {
    "application/json": {
      schema: { $ref: `#/components/schemas/${envelope}` },
      examples: Object.fromEntries(codes.map((code) => [code, {}])),
    },
  },
})

const methodNotAllowed = (envelope: string): DocumentedResponse => {
  const response = general(["METHOD_NOT_ALLOWED"], envelope)
  return { ...response, headers: { ...response.headers, Allow: { required: true, schema: { type: "string" } } } }
}

/** The responses of the pipeline to a request that is not one of any operation. */
const REFUSALS: Readonly<Record<number, DocumentedResponse>> = {
  400: general(["INVALID_PARAMETER", "MISSING_PARAMETER"]),
  404: general(["NOT_FOUND"]),
  405: methodNotAllowed("PartnerError"),
}

/** The paths whose errors have the legacy envelope. */
const LEGACY_PATH = /^\/v1\/(?:surveys|uploads)\//

const documentedResponse = (
  operation: DocumentedOperation | undefined,
  status: number,
  served: ReadonlyArray<string>,
): DocumentedResponse | undefined => {
  if (operation === undefined) return REFUSALS[status]
  // The document has a 500 and a 503, for what must not happen here.
  if (status === 501 && !served.includes(operation.operationId))
    return operation.responses[501] ?? general(["INTERNAL_ERROR"])
  return status < 500 ? operation.responses[status] : undefined
}
