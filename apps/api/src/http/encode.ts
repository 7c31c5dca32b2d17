import type { IncomingMessage, ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { StoredResponse } from "@outreach/domain/idempotency/executeOnce"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

/** A value that is already JSON text, such as a stored event. */
export class Json<Value> {
  declare readonly of: Value
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A response before serialization; a null body is empty. */
export interface OperationResponse {
  readonly status: number
  readonly body: object | null
  readonly headers: Readonly<Record<string, string>>
}

export const encode = ({ status, body, headers }: OperationResponse): StoredResponse => ({
  status,
  headers,
  body: body === null ? null : body instanceof Json ? body.text : JSON.stringify(body),
})

/**
 * Writes a response. Returns the written status, headers and body.
 *
 * Node sends a head and a text body in one write. A body of bytes, as in `HttpServerResponse`, needs a second write, which costs a tenth
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
    // For ASCII, Node copies the bytes directly; as UTF-8 it would reserve three times the space and count again.
    const encoding = length === body.length ? "latin1" : "utf8"
    response
      .writeHead(status, { ...headers, "Content-Type": "application/json", "Content-Length": length })
      .end(body, encoding)
  }
  return HttpServerResponse.empty({ status, headers })
}

/** Maximum size of an unread body that the server drains to keep the connection. Otherwise the response announces that it closes. */
const DRAINED_BYTES = 256 * 1024

const leavesMuchUnread = ({ complete, headers }: IncomingMessage, status: number): boolean =>
  !complete && (status === 413 || Number(headers["content-length"] ?? 0) > DRAINED_BYTES)
