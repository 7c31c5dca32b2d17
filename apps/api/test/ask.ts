import { once } from "node:events"
import { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, request } from "node:http"
import { buffer } from "node:stream/consumers"
import { LegacyError, type Operation, operations, PartnerError } from "@outreach/contract"
import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import { expect } from "vitest"
import { DOCS_URL } from "./startApi.ts"

/** A response that was checked against the contract. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the contract's schema has looked at it
  readonly body: any
}

interface SendOptions extends Pick<RequestOptions, "agent" | "signal"> {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** With its length in a header, or in chunks, which `headers` describes. */
  readonly body?: string | Uint8Array | ReadonlyArray<string | Uint8Array>
}

/** Sends a request to the API with the target as it is. Returns the bytes of its body as received. */
export async function send(
  { url }: { readonly url: string },
  target: string,
  { headers = {}, body, ...options }: SendOptions = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Buffer }> {
  const isWhole = typeof body === "string" || body instanceof Uint8Array
  const length = isWhole && !("Transfer-Encoding" in headers) && { "Content-Length": Buffer.byteLength(body) }
  const sent = request(url, { ...options, path: target, headers: { ...length, ...headers } as OutgoingHttpHeaders })
  // The connection may break after the response while bytes are in transit.
  sent.on("error", () => {})
  const responded = once(sent, "response") as Promise<[IncomingMessage]>
  // Flushed first, so that the length is sent only in a header.
  if (body !== undefined) sent.flushHeaders()
  for (const chunk of isWhole ? [body] : (body ?? [])) sent.write(chunk)
  sent.end()
  const [response] = await responded
  const fields = Object.entries(response.headersDistinct).map(([name, values]) => [name, values!.join(", ")])
  return {
    status: response.statusCode!,
    headers: new Headers(fields as Array<[string, string]>),
    body: await buffer(response),
  }
}

/** Sends a request to the API, and checks the response against the contract: status, body, headers and the operation's error codes. */
export async function ask(
  api: { readonly url: string },
  target: string,
  { key, method = "GET", headers, ...options }: SendOptions & { readonly key?: string } = {},
): Promise<Answer> {
  const all = { ...(key !== undefined && { Authorization: `Bearer ${key}` }), ...headers }
  const { body, ...response } = await send(api, target, { ...options, method, headers: all })
  const answer = { ...response, body: body.length === 0 ? null : JSON.parse(body.toString()) }
  checkAnswer(answer, method, target)
  return answer
}

const RATE_LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]

/** Checks a response against the contract. */
export function checkAnswer({ status, headers, body }: Answer, method: string, target: string): void {
  expect(headers.get("X-Request-Id")).toMatch(/^req_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  const operation = operationOf(method, target)
  if (target === "/readyz" && (status === 200 || status === 503)) return
  expect(headers.get("Retry-After") !== null, "Retry-After accompanies 429 only").toBe(status === 429)
  if (method === "OPTIONS" && status === 204) {
    expect([body, headers.get("Allow") !== null]).toEqual([null, true])
    return
  }
  const isCounted = operation?.auth.kind === "scope" || operation?.auth.kind === "bearer"
  // Invalid HTTP belongs to no operation. A HEAD response has no body that shows it.
  const isMalformed =
    method === "HEAD" ? status === 400 && /[^!-~]/.test(target) : body?.error?.details?.parameter === "request"
  if (operation !== undefined && !isCounted && !isMalformed) {
    for (const name of RATE_LIMIT_HEADERS) expect(headers.get(name), "there is no rate window").toBeNull()
  } else if (isCounted || status >= 400) {
    expect(headers.get("X-RateLimit-Limit")).toBe("100")
    expect(headers.get("X-RateLimit-Remaining")).toMatch(/^(100|\d\d?)$/)
    expect(Number(headers.get("X-RateLimit-Reset")) % 60).toBe(0)
  }
  if (method === "HEAD") expect(body).toBeNull()
  else if (isMalformed) checkError(undefined, undefined, status, headers, body)
  else if (status >= 400) checkError(operation, operationOf("", target), status, headers, body)
  else if (operation !== undefined) checkSuccess(operation, status, headers, body)
}

function checkSuccess(operation: Operation, status: number, headers: Headers, body: unknown): void {
  const row = operation.responses[status]
  expect(row, `${operation.operationId} answers ${status}`).toBeDefined()
  if (row!.body === null) expect(body).toBeNull()
  else expect(row!.body.parse(body)).toEqual(body)
  for (const name of row!.headers) expect(headers.get(name)).not.toBeNull()
}

function checkError(
  operation: Operation | undefined,
  otherMethod: Operation | undefined,
  status: number,
  headers: Headers,
  body: unknown,
): void {
  expect(headers.get("Content-Type")).toBe("application/json")
  if ((operation ?? otherMethod)?.envelope === "legacy") {
    const envelope = LegacyError.parse(body)
    expect(envelope).toEqual(body)
    const { error } = envelope
    expect(status).toBe(legacyCatalog.codes[error.code].status)
    if (operation) expect(operation.errors).toContain(error.code)
    return
  }
  const envelope = PartnerError.parse(body)
  expect(envelope).toEqual(body)
  const { error } = envelope
  const definition = partnerCatalog.codes[error.code]
  expect(error.request_id).toBe(headers.get("X-Request-Id"))
  expect(error.type).toBe(definition.type)
  expect(error.doc_url).toBe(`${DOCS_URL}/errors#${error.code}`)
  if (status !== 501) expect(status).toBe(definition.status)
  if (operation) expect(operation.errors).toContain(error.code)
}

/** Finds the operation of a method and a path; any method if it is empty. */
function operationOf(method: string, target: string): Operation | undefined {
  const path = target.split("?")[0]!
  return Object.values<Operation>(operations).find(
    (row) =>
      (method === "" || row.method === (method === "HEAD" ? "GET" : method)) &&
      new RegExp(`^${row.path.replaceAll(/\{\w+\}/g, "[^/]*")}$`).test(path),
  )
}
