import type { IncomingMessage, ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { StoredResponse } from "@outreach/domain/idempotency/IdempotencyRepository"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

/** A value that is JSON already, such as an event, which is stored as the text that was sent. */
export class Json<Value> {
  declare readonly of: Value
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  static from<Value extends object | null>(value: Value): Json<Value> {
    return new Json(JSON.stringify(value))
  }
}

/** An answer before it is JSON; a null body is none. */
export interface OperationResponse {
  readonly status: number
  readonly body: object | null
  readonly headers: Readonly<Record<string, string>>
}

export const encode = ({ status, body, headers }: OperationResponse): StoredResponse => ({
  status,
  headers,
  body: body === null ? null : (body instanceof Json ? body : Json.from(body)).text,
})

/**
 * Writes an encoded answer, and says what was written.
 *
 * Node sends head and text in one piece; a body of bytes, as `HttpServerResponse` has it, leaves in a second one, which costs a tenth
 * of a look-up.
 */
export const respond = (
  request: HttpServerRequest.HttpServerRequest,
  { status, headers, body }: StoredResponse,
): HttpServerResponse.HttpServerResponse => {
  const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  if (leavesMuchUnread(request.source as IncomingMessage, status)) response.setHeader("Connection", "close")
  if (body === null) {
    response.writeHead(status, headers).end()
  } else {
    const length = Buffer.byteLength(body)
    // ASCII, whose bytes Node copies at once, where it would make room for three times as many, and count them again.
    const encoding = length === body.length ? "latin1" : "utf8"
    response
      .writeHead(status, { ...headers, "Content-Type": "application/json", "Content-Length": length })
      .end(body, encoding)
  }
  return HttpServerResponse.empty({ status, headers })
}

/** The most of an unread body that the server reads to keep its connection. It closes one with more to come, and must say so before. */
const DRAINED_BYTES = 256 * 1024

const leavesMuchUnread = ({ complete, headers }: IncomingMessage, status: number): boolean =>
  !complete && (status === 413 || Number(headers["content-length"] ?? 0) > DRAINED_BYTES)
