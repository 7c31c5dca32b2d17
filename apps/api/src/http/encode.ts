import type { KeptAnswer } from "@outreach/domain/idempotency/IdempotencyLedger"
import { HttpServerResponse } from "effect/http"

/** An answer before it is JSON; a null body is none. */
export interface Answer {
  readonly status: number
  readonly body: object | null
  readonly headers: Readonly<Record<string, string>>
}

/** Renders an answer's body as JSON. */
export const encode = ({ status, body, headers }: Answer): KeptAnswer => ({
  status,
  headers,
  body: body === null ? null : JSON.stringify(body),
})

/** Makes the response to an encoded answer. */
export const respond = ({ status, headers, body }: KeptAnswer): HttpServerResponse.HttpServerResponse =>
  body === null
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.text(body, { status, headers, contentType: "application/json" })
